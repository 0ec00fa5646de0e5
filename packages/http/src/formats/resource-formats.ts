import type { Resource } from '@ledger-state/ledger'

/** A resource as JSON, with members in the order of the reference. Its data may have characters outside of ASCII. */
export function resourceToJson(resource: Resource): string {
  return `{"type":${JSON.stringify(resource.typeText())},"data":${resource.toJson()}}`
}
