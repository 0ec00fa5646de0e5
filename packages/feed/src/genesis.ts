import { Buffer } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import {
  ADDRESS_LENGTH,
  ByteReader,
  ByteWriter,
  isLedgerStateError,
  LedgerStateError,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import { AccumulatorFrontier } from './accumulator.js'
import { VALIDATOR_SET_KEY } from './framework-keys.js'
import { GENESIS_BLOCK, LedgerClock } from './ledger-clock.js'
import { LedgerHasher } from './ledger-hasher.js'
import { waypointOf } from './ledger-info.js'
import type { LedgerSource, SourceOptions } from './source.js'
import { SparseMerkleFrontier } from './sparse-merkle.js'
import { readEvents } from './transaction-record.js'
import { readWriteSet } from './write-set.js'

const TRANSACTION_GENESIS = 1
const PAYLOAD_DIRECT = 0

/**
 * Reads a `genesis.blob`: the genesis transaction of a network, which is its version 0 and block 0.
 * @throws `invalid_genesis`; `verification_failed` where another waypoint is expected
 */
export async function openGenesis(path: string, options: SourceOptions): Promise<LedgerSource> {
  const blob = await readFile(path)
  const genesis = parseGenesis(blob)
  const waypoint = options.verify === false ? undefined : proveGenesis(genesis, new LedgerHasher(options.hashSalt))
  if (options.waypoint !== undefined && waypoint?.text !== options.waypoint) {
    const message = `${path} has the waypoint ${waypoint?.text ?? '(not computed)'}, not ${options.waypoint}`
    throw new LedgerStateError('verification_failed', message)
  }
  let done = 0
  return {
    description: `genesis blob${waypoint ? ` (waypoint ${waypoint.text})` : ''}`,
    chainId: genesis.chainId,
    position: path,
    mark: waypoint?.frontier,
    get progress() {
      return { done, total: blob.length, unit: 'bytes' as const }
    },
    async *versions() {
      yield genesis.record
      done = blob.length
    },
    async close() {},
  }
}

export interface Genesis {
  readonly record: VersionWrites
  readonly chainId: number
  /** Bytes of the genesis transaction; the write set stands at `writeSetStart`, the events at `eventsStart`. */
  readonly blob: Buffer
  readonly writeSetStart: number
  readonly eventsStart: number
}

/**
 * The writes of a genesis transaction in BCS (`01`, write set payload), and the chain id that they hold.
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
    if (chainId === undefined) {
      throw new LedgerStateError('invalid_genesis', 'the genesis writes no 0x1::chain_id::ChainId')
    }
    const record = { version: 0n, block, writes }
    return { record, chainId, blob: reader.bytes, writeSetStart, eventsStart }
  })
}

function withGenesisErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw new LedgerStateError('invalid_genesis', `not a genesis blob: ${error.message}`, error.fields)
  }
}

function expectTag(reader: ByteReader, expected: number, what: string): void {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag !== expected) throw reader.fault(`found tag ${tag} where ${what} has ${expected}`, start)
}

interface GenesisProof {
  /** `0:hash`, as the network publishes it. */
  readonly text: string
  /** The ledger's accumulator behind version 0. */
  readonly frontier: Uint8Array
}

/** Runs the commitments of the ledger from the writes up to the waypoint. See docs/ledger-formats.md, section "Hashes and commitments". */
export function proveGenesis(genesis: Genesis, hasher: LedgerHasher): GenesisProof {
  const { blob, record, writeSetStart, eventsStart } = genesis
  const eventRoot = readEvents(new ByteReader(blob, eventsStart), hasher)!
  const info = new ByteWriter()
    .u8(0)
    .u64(0n)
    .u8(0)
    .bytes(hasher.hash('Transaction', blob))
    .bytes(eventRoot)
    .bytes(hasher.hash('WriteSet', blob.subarray(writeSetStart, eventsStart)))
    .bool(true)
    .bytes(stateRootOf(record.writes, hasher))
    .bool(false)
  const frontier = new AccumulatorFrontier(hasher, 'TransactionAccumulator')
  frontier.append(hasher.hash('TransactionInfo', info.toBytes()))
  const text = waypointOf(hasher, {
    epoch: GENESIS_BLOCK.epoch,
    accumulatorRoot: frontier.root(),
    version: 0n,
    timestampUsec: GENESIS_BLOCK.timestampUsec,
    nextEpochState: firstEpochState(record.writes),
  })
  return { text, frontier: frontier.toBytes() }
}

function stateRootOf(writes: readonly Write[], hasher: LedgerHasher): Buffer {
  const leaves: [Buffer, Buffer][] = []
  for (const [key, value] of writes) {
    if (value === null) continue
    const stateValue = new ByteWriter().u8(0).byteString(value).toBytes()
    leaves.push([hasher.hash('StateKey', key), hasher.hash('StateValue', stateValue)])
  }
  const tree = new SparseMerkleFrontier(hasher)
  for (const [keyHash, valueHash] of leaves.sort(([a], [b]) => Buffer.compare(a, b))) tree.append(keyHash, valueHash)
  return tree.root()
}

const FIRST_EPOCH = 1n

/** Epoch 1 and its validators, as they stand in 0x1::stake::ValidatorSet: address, public key, voting power of each. */
function firstEpochState(writes: readonly Write[]): Uint8Array | undefined {
  const value = writes.find(([key]) => VALIDATOR_SET_KEY.equals(key))?.[1]
  if (!value) return undefined
  return withGenesisErrors(() => {
    const reader = new ByteReader(value)
    reader.skip(1)
    const count = reader.readLength()
    const state = new ByteWriter().u64(FIRST_EPOCH).uleb128(count)
    for (let rest = count; rest > 0; rest--) {
      const address = reader.readBytes(ADDRESS_LENGTH)
      const votingPower = reader.readU64()
      state.bytes(address).byteString(reader.readByteString()).u64(votingPower)
      reader.readByteString()
      reader.readByteString()
      reader.skip(8)
    }
    return state.toBytes()
  })
}
