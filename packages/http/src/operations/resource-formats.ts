import type { Resource } from '@ledger-state/ledger'

/** Members in the order of the reference. The data is not ASCII in all cases. */
export function resourceToJson(resource: Resource): string {
  return `{"type":${JSON.stringify(resource.typeText())},"data":${resource.toJson()}}`
}
