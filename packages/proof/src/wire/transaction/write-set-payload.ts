import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { type BcsList, readBcsList } from '../bcs-list.js'
import { type ContractEvent, readEvent, skipEvent } from '../events.js'
import { readVariant } from '../variant.js'
import { visitWriteSet } from '../write-set.js'
import { readScript, type Script } from './payload.js'

/** The payload of a genesis. See docs/ledger-formats.md, "Genesis". */
export type WriteSetPayload =
  | {
      readonly kind: 'direct'
      /** Offset of the write set. Its end is the offset of the events. */
      readonly writeSetStart: number
      readonly eventsStart: number
      readonly events: BcsList<ContractEvent>
    }
  | { readonly kind: 'script'; readonly executeAs: Uint8Array; readonly script: Script }

/** Reads the payload of a genesis; its writes are passed over. @throws `UnknownVariantError`, `invalid_bcs` */
export function readWriteSetPayload(reader: ByteReader): WriteSetPayload {
  if (readVariant(reader, 'a write set payload', 2) === 1) {
    return { kind: 'script', executeAs: reader.readBytes(ADDRESS_LENGTH), script: readScript(reader) }
  }
  const writeSetStart = reader.offset
  visitWriteSet(reader, () => {})
  return {
    kind: 'direct',
    writeSetStart,
    eventsStart: reader.offset,
    events: readBcsList(reader, readEvent, skipEvent),
  }
}
