import type { VersionWrites, Write } from '@ledger-state/core'
import type { StateWriter } from '@ledger-state/engine'
import { writeModule } from '@ledger-state/move-module'
import { openStateEngine } from '@ledger-state/state-engine'
import {
  moduleKey,
  parseStructTag,
  resourceKey,
  type StructTag,
  type TypeTag,
  tableItemKey,
} from '@ledger-state/type-tag'

/** Names in order of their BCS tags, so that types are stored in the order of their numbers. */
const DIGITS = ['bool', 'u8', 'u64', 'u128', 'address', 'u16', 'u32', 'u256'] as const
const DIGIT_COUNT = 6
const HOME = address(0xca)
const COIN_STORE = parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>')
/** Of the table whose items have histories. */
const HISTORY_TABLE = address(0x70)
/** Resources of an account that change in the last version: the first of them. */
const CHANGED_RESOURCES = 100
const WRITES_PER_BATCH = 2_000

const MODULE = {
  version: 7,
  address: HOME,
  name: 'm',
  structs: [
    {
      kind: 'struct',
      name: 'R',
      abilities: 12,
      typeParameters: Array.from({ length: DIGIT_COUNT }, () => ({ constraints: 0, phantom: true })),
      fields: [
        { name: 'amount', type: { kind: 'u64' } },
        { name: 'owner', type: { kind: 'address' } },
      ],
    },
  ],
} as const

/** How large the things are that pages are read of. */
export interface PagedSizes {
  /** Resources of the accounts, and items of the tables. */
  readonly listings: readonly number[]
  /** Versions of the table items, and of the balances. The largest is the number of versions of the ledger. */
  readonly depths: readonly number[]
}

/** What was written: everything of a size is under an address of its own. */
export interface PagedStore {
  readonly engine: StateWriter
  /** The last of the writes of histories; the version after it changes the first resources of each account. */
  readonly lastHistoryVersion: bigint
  close(): Promise<void>
}

export const ITEM_VALUE_TYPE = '0xca::m::R<u8, u8, u8, u8, u8, u8>'

export function listedAddress(size: number): Uint8Array {
  return address(0x1000_0000 + size)
}

export function balanceOwner(depth: number): Uint8Array {
  return address(0x2000_0000 + depth)
}

export function listedResourceKey(size: number, at: number): Uint8Array {
  return resourceKey(listedAddress(size), typeOf(at))
}

export function listedItemKey(size: number, at: number): Uint8Array {
  const key = Buffer.alloc(8)
  key.writeBigUInt64BE(BigInt(at))
  return tableItemKey(listedAddress(size), key)
}

export function historyItem(depth: number): { readonly handle: Uint8Array; readonly key: Uint8Array } {
  return { handle: HISTORY_TABLE, key: Buffer.from(Uint32Array.of(depth).buffer) }
}

export function historyKey(depth: number): Uint8Array {
  const { handle, key } = historyItem(depth)
  return tableItemKey(handle, key)
}

/** `progress` is called after each batch. */
export async function writePagedStore(folder: string, sizes: PagedSizes, progress: () => void): Promise<PagedStore> {
  const engine = openStateEngine({ path: folder, durability: 'none' })
  let batch: VersionWrites[] = []
  let held = 0
  let last = 0n
  const flush = async () => {
    await engine.commit(batch, { chainId: 4 })
    batch = []
    held = 0
    progress()
  }
  for (const version of versionsOf(sizes)) {
    batch.push(version)
    last = version.version
    held += version.writes.length
    if (held >= WRITES_PER_BATCH) await flush()
  }
  if (batch.length > 0) await flush()
  return { engine, lastHistoryVersion: last - 1n, close: () => engine.close() }
}

/** A block for each version. */
function* versionsOf(sizes: PagedSizes): Generator<VersionWrites> {
  let version = 0n
  for (const writes of writesOf(sizes)) {
    yield { version, block: { height: version, epoch: 0n, timestampUsec: version * 1_000n }, writes }
    version++
  }
}

function* writesOf({ listings, depths }: PagedSizes): Generator<Write[]> {
  yield [[moduleKey(HOME, 'm'), writeModule(MODULE)]]
  for (const size of listings) {
    for (let at = 0; at < size; at += 500) {
      const writes: Write[] = []
      for (let one = at; one < Math.min(at + 500, size); one++) {
        writes.push([listedResourceKey(size, one), value(one)], [listedItemKey(size, one), value(one)])
      }
      yield writes
    }
  }
  const most = Math.max(...depths)
  for (let at = 0; at < most; at++) {
    const written = depths.filter((depth) => at % (most / depth) === 0)
    yield written.flatMap((depth): Write[] => [
      [historyKey(depth), value(at + 1)],
      [resourceKey(balanceOwner(depth), COIN_STORE), Buffer.concat([value(at + 1).subarray(0, 8), Buffer.alloc(97)])],
    ])
  }
  yield listings.flatMap((size) =>
    Array.from({ length: CHANGED_RESOURCES }, (_, at): Write => [listedResourceKey(size, at), value(at + 1)]),
  )
}

function typeOf(at: number): StructTag {
  const typeArguments: TypeTag[] = []
  for (let digit = DIGIT_COUNT - 1; digit >= 0; digit--) {
    typeArguments.push({ kind: DIGITS[Math.floor(at / DIGITS.length ** digit) % DIGITS.length]! })
  }
  return { kind: 'struct', address: HOME, module: 'm', name: 'R', typeArguments }
}

function value(at: number): Uint8Array {
  const bytes = Buffer.alloc(40, 0x5a)
  bytes.writeBigUInt64LE(BigInt(at))
  return bytes
}

function address(last: number): Uint8Array {
  const bytes = Buffer.alloc(32)
  bytes.writeUInt32BE(last, 28)
  return bytes
}
