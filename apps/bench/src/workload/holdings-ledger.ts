import { createHash } from 'node:crypto'
import { ByteWriter, type VersionWrites, type Write } from '@ledger-state/core'
import { parseStructTag, resourceGroupKey, writeStructTag } from '@ledger-state/type-tag'

// Ledgers of fungible stores, for lists of holdings.

const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
const CORE = tagBytes('0x1::object::ObjectCore')
const STORE = tagBytes('0x1::fungible_asset::FungibleStore')
const EVENTS = new Uint8Array(48)
const WRITES_PER_VERSION = 10
const VERSIONS_PER_BLOCK = 10

/** An address that a name and a number determine. */
export function addressOf(name: string, number: number): Uint8Array {
  return Uint8Array.from(createHash('sha3-256').update(`${name} ${number}`).digest())
}

/** State key of a store. */
export function storeKey(number: number): Uint8Array {
  return resourceGroupKey(addressOf('store', number), OBJECT_GROUP)
}

/** Versions in which the stores of one owner change, all equally often: `changes` in total. */
export function changingStores(owner: Uint8Array, stores: number, changes: number): Generator<VersionWrites> {
  return versionsOf(changes, (at) => {
    const number = at % stores
    return storeWrite(addressOf('store', number), owner, addressOf('asset', number), BigInt(at + 1))
  })
}

/** Versions that create stores of one asset, each with another owner. */
export function newStores(asset: Uint8Array, stores: number): Generator<VersionWrites> {
  return versionsOf(stores, (at) => storeWrite(addressOf('store', at), addressOf('owner', at), asset, BigInt(at)))
}

function* versionsOf(count: number, writeOf: (at: number) => Write): Generator<VersionWrites> {
  for (let at = 0, version = 0; at < count; version++) {
    const writes: Write[] = []
    for (; writes.length < WRITES_PER_VERSION && at < count; at++) writes.push(writeOf(at))
    const height = BigInt(Math.floor(version / VERSIONS_PER_BLOCK))
    const block = version % VERSIONS_PER_BLOCK === 0 ? { height, epoch: 0n, timestampUsec: height } : undefined
    yield { version: BigInt(version), block, writes }
  }
}

function storeWrite(address: Uint8Array, owner: Uint8Array, asset: Uint8Array, amount: bigint): Write {
  const core = new ByteWriter().u64(1n).bytes(owner).bool(true).bytes(EVENTS).toBytes()
  const store = new ByteWriter().bytes(asset).u64(amount).bool(false).toBytes()
  const members = [
    [CORE, core],
    [STORE, store],
  ] as const
  const writer = new ByteWriter().uleb128(members.length)
  for (const [tag, bytes] of members.toSorted(([a], [b]) => Buffer.compare(a, b))) writer.bytes(tag).byteString(bytes)
  return [resourceGroupKey(address, OBJECT_GROUP), writer.toBytes()]
}

function tagBytes(type: string): Uint8Array {
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(type))
  return writer.toBytes()
}
