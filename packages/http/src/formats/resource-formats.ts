import type { Steps } from '@ledger-state/core'
import type { Resource } from '@ledger-state/ledger'
import type { ItemText } from './item-text.js'

const TYPE = Buffer.from('{"type":')
const DATA = Buffer.from(',"data":')
const END = 0x7d

/**
 * A resource as JSON, with members in the order of the reference, in steps. Its data may have characters outside of
 * ASCII.
 */
export function* resourceToJson(resource: Resource): Steps<string> {
  const data = yield* resource.toJsonInSteps()
  return `{"type":${JSON.stringify(resource.typeText())},"data":${data}}`
}

/** Prints a resource as `resourceToJson` does. */
export function printResource(resource: Resource, text: ItemText): void {
  text.json.raw(TYPE)
  resource.appendTypeText(text.json)
  text.json.raw(DATA)
  text.value(resource)
  text.json.byte(END)
}
