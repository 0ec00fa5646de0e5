import { Buffer } from 'node:buffer'
import { ADDRESS_LENGTH, type BlockInfo, ByteReader, type Write } from '@ledger-state/core'
import { BLOCK_RESOURCE_KEY, CHAIN_ID_KEY, CONFIGURATION_KEY, TIMESTAMP_KEY } from './framework-keys.js'

const BLOCK_METADATA = 2
/** Kind of block metadata in which the tag of a variant precedes the same contents. */
const BLOCK_METADATA_EXT = 5

const BLOCK_ID_LENGTH = 32

/** Block of the genesis. The state after it already has the epoch and the time of the next block. */
export const GENESIS_BLOCK: BlockInfo = { height: 0n, epoch: 0n, timestampUsec: 0n }

type Resource = 'chainId' | 'height' | 'epoch' | 'timestampUsec'

const RESOURCES: readonly (readonly [Resource, Uint8Array])[] = [
  ['chainId', CHAIN_ID_KEY],
  ['height', BLOCK_RESOURCE_KEY],
  ['epoch', CONFIGURATION_KEY],
  ['timestampUsec', TIMESTAMP_KEY],
]

/** Values of the framework's resources as of some version; undefined if they were not seen. */
export interface LedgerClockState {
  chainId?: number | undefined
  height?: bigint | undefined
  epoch?: bigint | undefined
  timestampUsec?: bigint | undefined
}

/** The value of a state key, at once or as a promise; undefined if there is none. */
export type ReadStateValue = (key: Uint8Array) => Uint8Array | undefined | Promise<Uint8Array | undefined>

/**
 * Block height, epoch and time of each version, from the writes of versions. See docs/ledger-formats.md, "Blocks,
 * epochs and time".
 */
export class LedgerClock {
  readonly state: LedgerClockState

  constructor(state: LedgerClockState = {}) {
    this.state = { ...state }
  }

  /** The clock at the newest version of a store. */
  static async at(read?: ReadStateValue): Promise<LedgerClock> {
    const clock = new LedgerClock()
    if (!read) return clock
    const values = await Promise.all(RESOURCES.map(([, key]) => read(key)))
    for (const [at, value] of values.entries()) if (value) clock.#set(RESOURCES[at]![0], value)
    return clock
  }

  /**
   * The block that a version begins, if it begins one. The clock is then at that version.
   * @param transaction bytes that begin with the version's transaction; it has the values that the resources seen so
   * far lack
   */
  advance(version: bigint, writes: readonly Write[], transaction?: Uint8Array): BlockInfo | undefined {
    const before = { ...this.state }
    this.observe(writes)
    if (version === 0n) return GENESIS_BLOCK
    const { height, timestampUsec } = this.state
    if (height === before.height || height === undefined) return undefined
    const metadata =
      before.epoch === undefined || timestampUsec === undefined ? readBlockMetadata(transaction) : undefined
    return {
      height,
      epoch: before.epoch ?? metadata?.epoch ?? 0n,
      timestampUsec: timestampUsec ?? metadata?.timestampUsec ?? 0n,
    }
  }

  observe(writes: readonly Write[]): void {
    for (const [key, value] of writes) if (value) this.observeEntry(key, value)
  }

  observeEntry(key: Uint8Array, value: Uint8Array): void {
    for (const [resource, resourceKey] of RESOURCES) {
      if (key.length === resourceKey.length && Buffer.compare(resourceKey, key) === 0) this.#set(resource, value)
    }
  }

  #set(resource: Resource, value: Uint8Array): void {
    if (resource === 'chainId') this.state.chainId = value[0]
    else if (value.length >= 8) this.state[resource] = Buffer.from(value.subarray(0, 8)).readBigUInt64LE(0)
  }
}

function readBlockMetadata(transaction: Uint8Array | undefined) {
  const tag = transaction?.[0]
  if (!transaction || (tag !== BLOCK_METADATA && tag !== BLOCK_METADATA_EXT)) return undefined
  const reader = new ByteReader(transaction, tag === BLOCK_METADATA ? 1 : 2)
  reader.skip(BLOCK_ID_LENGTH)
  const epoch = reader.readU64()
  reader.skip(8 + ADDRESS_LENGTH)
  reader.readByteString()
  reader.skip(reader.readLength() * 4)
  return { epoch, timestampUsec: reader.readU64() }
}
