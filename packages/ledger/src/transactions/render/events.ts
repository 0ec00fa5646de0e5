import { addressToShortHex, bytesToHex } from '@ledger-state/core'
import type { ContractEvent } from '@ledger-state/proof/transactions'
import { moveTypeToText } from '../../resources/resource-type-text.js'
import { type RenderContext, valueToJson } from './render-context.js'

/** Members of module events, which have no key. */
const NO_KEY = '"guid":{"creation_number":"0","account_address":"0x0"},"sequence_number":"0"'

/**
 * Members of an event as JSON, in the order of the reference, without the brackets. Data that cannot be decoded is
 * printed as hex.
 */
export function eventMembers(context: RenderContext, { key, type, data }: ContractEvent): string {
  const decoded = eventData(context, { type, data })
  const stream = key
    ? `"guid":{"creation_number":"${key.creationNumber}","account_address":"${addressToShortHex(key.address)}"},"sequence_number":"${key.sequenceNumber}"`
    : NO_KEY
  return `${stream},"type":${JSON.stringify(moveTypeToText(type))},"data":${decoded}`
}

/** The data of an event as JSON; the hex of its bytes if they cannot be decoded. */
export function eventData(context: RenderContext, { type, data }: Pick<ContractEvent, 'type' | 'data'>): string {
  return valueToJson(context, type, data) ?? `"${bytesToHex(data)}"`
}

/** An event as JSON. */
export function eventToJson(context: RenderContext, event: ContractEvent): string {
  return `{${eventMembers(context, event)}}`
}
