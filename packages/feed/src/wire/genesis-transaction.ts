import { ByteReader, isLedgerStateError, type VersionWrites } from '@ledger-state/core'
import { readVariant, readWriteSetPayload } from '@ledger-state/proof/transactions'
import { genesisWithoutChainId, notAGenesis } from '../errors.js'
import { LedgerClock } from './ledger-clock.js'
import { readWriteSet } from './write-set.js'

const TRANSACTION_GENESIS = 1

export interface Genesis {
  readonly record: VersionWrites
  readonly chainId: number
  /** Bytes of the genesis transaction; the write set begins at `writeSetStart`, the events at `eventsStart`. */
  readonly blob: Uint8Array
  readonly writeSetStart: number
  readonly eventsStart: number
}

/**
 * Reads a genesis transaction in BCS: its writes, and the chain id among them. See docs/ledger-formats.md, "Genesis".
 * @throws `invalid_genesis` with the byte offset
 */
export function parseGenesis(bytes: Uint8Array): Genesis {
  return withGenesisErrors(() => {
    const reader = new ByteReader(bytes)
    const variant = readVariant(reader, 'a transaction', TRANSACTION_GENESIS + 1)
    if (variant !== TRANSACTION_GENESIS) throw reader.fault(`found tag ${variant} where a genesis transaction has 1`, 0)
    const payload = readWriteSetPayload(reader)
    reader.expectEnd()
    if (payload.kind !== 'direct') throw reader.fault('found a script where a genesis has a direct write set', 1)
    const { writeSetStart, eventsStart } = payload
    const writes = readWriteSet(new ByteReader(reader.bytes, writeSetStart, eventsStart))
    const clock = new LedgerClock()
    const block = clock.advance(0n, writes)
    const { chainId } = clock.state
    if (chainId === undefined) throw genesisWithoutChainId()
    return { record: { version: 0n, block, writes }, chainId, blob: reader.bytes, writeSetStart, eventsStart }
  })
}

export function withGenesisErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isLedgerStateError(error, 'invalid_bcs') ? notAGenesis(error) : error
  }
}
