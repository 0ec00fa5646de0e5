import { ByteReader, isLedgerStateError, type VersionWrites } from '@ledger-state/core'
import { genesisWithoutChainId, notAGenesis } from '../errors.js'
import { readEvents } from './events.js'
import { LedgerClock } from './ledger-clock.js'
import { readWriteSet } from './write-set.js'

const TRANSACTION_GENESIS = 1
const PAYLOAD_DIRECT = 0

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
    expectTag(reader, TRANSACTION_GENESIS, 'a genesis transaction')
    expectTag(reader, PAYLOAD_DIRECT, 'a direct write set payload')
    const writeSetStart = reader.offset
    const writes = readWriteSet(reader)
    const eventsStart = reader.offset
    readEvents(reader)
    reader.expectEnd()
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

function expectTag(reader: ByteReader, expected: number, what: string): void {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag !== expected) throw reader.fault(`found tag ${tag} where ${what} has ${expected}`, start)
}
