import type { Steps } from '@ledger-state/core'
import type { Resource } from '@ledger-state/ledger'

/**
 * A resource as JSON, with members in the order of the reference, in steps. Its data may have characters outside of
 * ASCII.
 */
export function* resourceToJson(resource: Resource): Steps<string> {
  const data = yield* resource.toJsonInSteps()
  return `{"type":${JSON.stringify(resource.typeText())},"data":${data}}`
}
