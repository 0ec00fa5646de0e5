import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError, parseAddress } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'

const COMMIT_HISTORY_KEY = resourceKey(parseAddress('0x1'), parseStructTag('0x1::block::CommitHistory'))

/**
 * The hash of a block, read from the block's event. Newer frameworks keep these events in a table, which the first
 * version of each block writes. Undefined if the state has no event for this block.
 */
export function readBlockHash(viewOfFirstVersion: StateView, height: bigint): Uint8Array | undefined {
  if (height === 0n) return new Uint8Array(ADDRESS_LENGTH)
  const history = viewOfFirstVersion.get(COMMIT_HISTORY_KEY)
  if (!history) return undefined
  try {
    const eventKey = newestEventKey(history)
    const event = eventKey && viewOfFirstVersion.get(eventKey)
    return event && readHash(event, height)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/**
 * Key of the newest event in `CommitHistory`: capacity u32 | next index u32 | handle of the table | … The table's items
 * are a ring.
 */
function newestEventKey(history: Uint8Array): Uint8Array | undefined {
  const reader = new ByteReader(history)
  const capacity = reader.readU32()
  const next = reader.readU32()
  const handle = reader.readBytes(ADDRESS_LENGTH)
  if (capacity === 0) return undefined
  return tableItemKey(handle, new ByteWriter().u32((next === 0 ? capacity : next) - 1).toBytes())
}

/** Hash in a `NewBlockEvent`: hash | epoch u64 | round u64 | height u64 | … */
function readHash(event: Uint8Array, height: bigint): Uint8Array | undefined {
  const reader = new ByteReader(event)
  const hash = reader.readBytes(ADDRESS_LENGTH)
  reader.skip(8 + 8)
  return reader.readU64() === height ? hash : undefined
}
