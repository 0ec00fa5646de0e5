// Random ledgers with tables in tables, objects that change hands, deletions and creations; and slices of them, made as
// an ingest makes them.
import { ByteWriter, bytesToHex, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { type SignatureToken, writeModule } from '@ledger-state/move-module'
import { noteToAnnotation } from '@ledger-state/records'
import { SliceKeeper, type SliceSpec } from '@ledger-state/slices'
import {
  moduleKey,
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  tableKeyPrefix,
  writeStructTag,
} from '@ledger-state/type-tag'
import fc from 'fast-check'
import { primaryStoreAddress } from '../src/index.ts'

const HANDLE: SignatureToken = { kind: 'address' }
const U64: SignatureToken = { kind: 'u64' }
const struct = (module: string, name: string, typeArguments: readonly SignatureToken[] = []): SignatureToken => ({
  kind: 'struct',
  module: { address: parseAddress(module.split('::')[0]!), name: module.split('::')[1]! },
  name,
  typeArguments,
})
const parameter = { constraints: 0, phantom: true }

function definition(name: string, fields: readonly (readonly [string, SignatureToken])[], parameters = 0) {
  return {
    kind: 'struct' as const,
    name,
    abilities: 0xc,
    typeParameters: Array.from({ length: parameters }, () => parameter),
    fields: fields.map(([field, type]) => ({ name: field, type })),
  }
}

const TABLE_MODULE = writeModule({
  version: 7,
  address: parseAddress('0x1'),
  name: 'table',
  structs: [definition('Table', [['handle', HANDLE]], 2)],
})
/** `Box` holds a table of `Inner`, which holds a table of `Leaf`, which holds a table of numbers. */
const BOX_MODULE = writeModule({
  version: 7,
  address: parseAddress('0x5'),
  name: 'm',
  structs: [
    definition('Plain', [['value', U64]]),
    definition('Leaf', [['table', struct('0x1::table', 'Table', [U64, U64])]]),
    definition('Inner', [['table', struct('0x1::table', 'Table', [U64, struct('0x5::m', 'Leaf')])]]),
    definition('Box', [
      ['value', U64],
      ['table', struct('0x1::table', 'Table', [U64, struct('0x5::m', 'Inner')])],
    ]),
  ],
})

export const ACCOUNTS = ['0xa1', '0xa2', '0xa3'].map(parseAddress)
export const OBJECTS = ['0xb1', '0xb2', '0xb3', '0xb4'].map(parseAddress)
/** Handles of tables of `Inner`, of tables of `Leaf`, and of tables of numbers. */
export const OUTER_TABLES = ['0xc1', '0xc2', '0xc3'].map(parseAddress)
export const INNER_TABLES = ['0xd1', '0xd2', '0xd3'].map(parseAddress)
export const LEAF_TABLES = ['0xd8', '0xd9'].map(parseAddress)
export const ASSETS = ['0xa', '0xe1'].map(parseAddress)
/** Primary stores. An account owns its store for as long as the store exists. */
const STORES = ACCOUNTS.flatMap((owner) =>
  ASSETS.map((asset) => ({ owner, address: primaryStoreAddress(owner, asset) })),
)

const GROUP = parseStructTag('0x1::object::ObjectGroup')
export const PLAIN = parseStructTag('0x5::m::Plain')
const BOX = parseStructTag('0x5::m::Box')

function group(members: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  const encoded = members.map(([name, bytes]) => {
    const writer = new ByteWriter()
    writeStructTag(writer, parseStructTag(name))
    return { tag: writer.toBytes(), bytes }
  })
  encoded.sort((a, b) => Buffer.compare(a.tag, b.tag))
  const writer = new ByteWriter().uleb128(encoded.length)
  for (const { tag, bytes } of encoded) writer.bytes(tag).byteString(bytes)
  return writer.toBytes()
}

/** The group that is left of an object that its owner burnt. */
function tombStone(owner: Uint8Array): readonly [string, Uint8Array] {
  return ['0x1::object::TombStone', new ByteWriter().bytes(owner).toBytes()]
}

function objectCore(owner: Uint8Array): readonly [string, Uint8Array] {
  const bytes = new ByteWriter().u64(1n).bytes(owner).bool(true).u64(0n).u64(0n).bytes(owner).toBytes()
  return ['0x1::object::ObjectCore', bytes]
}

/** Write of an object that has an owner and holds nothing. */
export function ownedObject(address: Uint8Array, owner: Uint8Array): Write {
  return [resourceGroupKey(address, GROUP), group([objectCore(owner)])]
}

/** Members of an object's group in addition to its core. */
type Held = readonly (readonly [string, Uint8Array])[]

const oneOf = <T>(items: readonly T[]) => fc.constantFrom(...items)
const number = fc.bigInt(0n, 3n)
const u64 = (value: bigint) => new ByteWriter().u64(value).toBytes()
const box = fc
  .tuple(number, oneOf(OUTER_TABLES))
  .map(([value, table]) => new ByteWriter().u64(value).bytes(table).toBytes())

const held: fc.Arbitrary<Held> = fc.oneof(
  fc.constant([]),
  box.map((bytes): Held => [['0x5::m::Box', bytes]]),
  number.map((value): Held => [['0x5::m::Plain', u64(value)]]),
)

/** A key with its new value; null deletes it. */
const change: fc.Arbitrary<readonly [Uint8Array, Uint8Array | null]> = fc.oneof(
  fc
    .tuple(oneOf([...ACCOUNTS, ...OBJECTS]), fc.option(number, { freq: 3 }))
    .map(([address, value]) => [resourceKey(address, PLAIN), value === null ? null : u64(value)] as const),
  fc
    .tuple(oneOf(ACCOUNTS), fc.option(box, { freq: 3 }))
    .map(([address, value]) => [resourceKey(address, BOX), value] as const),
  fc
    .tuple(oneOf(OUTER_TABLES), number, fc.option(oneOf(INNER_TABLES), { freq: 3 }))
    .map(([handle, key, inner]) => [tableItemKey(handle, u64(key)), inner] as const),
  fc
    .tuple(oneOf(INNER_TABLES), number, fc.option(oneOf(LEAF_TABLES), { freq: 3 }))
    .map(([handle, key, leaf]) => [tableItemKey(handle, u64(key)), leaf] as const),
  fc
    .tuple(oneOf(LEAF_TABLES), number, fc.option(number, { freq: 3 }))
    .map(([handle, key, value]) => [tableItemKey(handle, u64(key)), value === null ? null : u64(value)] as const),
  fc
    .tuple(oneOf(OBJECTS), oneOf([...ACCOUNTS, ...OBJECTS]), fc.option(held, { freq: 4 }), fc.nat(9))
    .map(([object, owner, members, burns]): readonly [Uint8Array, Uint8Array | null] => [
      resourceGroupKey(object, GROUP),
      members && group([burns === 0 ? tombStone(owner) : objectCore(owner), ...members]),
    ]),
  fc
    .tuple(oneOf(STORES), fc.option(number, { freq: 4 }))
    .map(
      ([{ owner, address }, balance]) =>
        [
          resourceGroupKey(address, GROUP),
          balance === null
            ? null
            : group([
                objectCore(owner),
                [
                  '0x1::fungible_asset::FungibleStore',
                  new ByteWriter().bytes(owner).u64(balance).bool(false).toBytes(),
                ],
              ]),
        ] as const,
    ),
)

/** One change, a key that is written again and again, or an object that is handed to another owner and back. */
const episode: fc.Arbitrary<readonly (readonly (readonly [Uint8Array, Uint8Array | null])[])[]> = fc.oneof(
  { weight: 6, arbitrary: fc.array(change, { maxLength: 4 }).map((changes) => [changes]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(change, change, fc.array(fc.boolean(), { minLength: 2, maxLength: 5 }))
      .map(([one, other, is]) =>
        is.map((isThere) => [[one[0], isThere ? one[1] : null] as const, ...(isThere ? [other] : [])]),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        oneOf(OBJECTS),
        fc.array(oneOf([...ACCOUNTS, ...OBJECTS]), { minLength: 2, maxLength: 3 }),
        held,
        fc.nat(3),
      )
      .map(([object, owners, members, back]) =>
        [...owners, ...owners.slice(0, back)].map((owner) => [
          [resourceGroupKey(object, GROUP), group([objectCore(owner), ...members])] as const,
        ]),
      ),
  },
)

/**
 * Writes of each version of a ledger; the first version has the modules. For all writes, for some or for none, they say
 * whether the write creates its key.
 */
export const randomLedgers: fc.Arbitrary<readonly (readonly Write[])[]> = fc
  .tuple(fc.array(episode, { minLength: 2, maxLength: 10 }), fc.constantFrom(1, 1, 2, Number.POSITIVE_INFINITY))
  .map(([episodes, saysOneIn]) => {
    const present = new Set<string>()
    const modules: Write[] = [
      [moduleKey(parseAddress('0x1'), 'table'), TABLE_MODULE],
      [moduleKey(parseAddress('0x5'), 'm'), BOX_MODULE],
    ]
    return [[], ...episodes.flat()].map((changes, at) => {
      const writes = new Map<string, Write>()
      for (const [key, value] of changes) {
        const name = bytesToHex(key)
        // The chain deletes only keys that exist, and writes a key once in a version.
        if (writes.has(name) || (value === null && !present.has(name))) continue
        const isCreation = at % saysOneIn === 0 && value !== null && !present.has(name)
        const annotation = noteToAnnotation({ metadata: undefined, isCreation })
        writes.set(name, value && annotation ? [key, value, annotation] : [key, value])
      }
      for (const [name, [, value]] of writes) value === null ? present.delete(name) : present.add(name)
      return at === 0 ? [...modules, ...writes.values()] : [...writes.values()]
    })
  })

const subset = <T>(items: readonly T[]) => fc.subarray([...items], { minLength: 0, maxLength: 2 })

/** Random specifications; sometimes with only tables or only types. */
export const randomSpecs: fc.Arbitrary<SliceSpec> = fc
  .record({
    accounts: subset([...ACCOUNTS, ...OBJECTS]),
    tables: subset([...OUTER_TABLES, ...INNER_TABLES, ...LEAF_TABLES]),
    types: fc.subarray(
      [
        { address: parseAddress('0x5'), module: 'm', name: 'Plain', tag: undefined },
        { address: parseAddress('0x5'), module: undefined, name: undefined, tag: undefined },
        { address: parseAddress('0x1'), module: 'fungible_asset', name: 'FungibleStore', tag: undefined },
      ],
      { maxLength: 1 },
    ),
  })
  .filter(({ accounts, tables, types }) => accounts.length + tables.length + types.length > 0)

export async function commitVersion(engine: StateWriter, version: bigint, writes: readonly Write[]): Promise<void> {
  await engine.commit([{ version, block: blockOf(version), writes }], { chainId: 4 })
}

function blockOf(version: bigint) {
  return { height: version, epoch: 0n, timestampUsec: version * 10n }
}

/** The whole ledger in an engine. */
export async function wholeOf(versions: readonly (readonly Write[])[]): Promise<StateWriter> {
  const engine = createMemoryEngine()
  for (const [at, writes] of versions.entries()) await commitVersion(engine, BigInt(at), writes)
  return engine
}

/** Way in which a slice is made from a ledger. */
export interface SliceMaking {
  /** Version at which the keeper is made again from the store, as after a restart. */
  readonly resumesAt?: number | undefined
  /** Versions that are committed at once. */
  readonly batch?: number
}

/** A slice of the ledger in an engine. */
export async function sliceOf(
  versions: readonly (readonly Write[])[],
  spec: SliceSpec,
  { resumesAt, batch = 1 }: SliceMaking = {},
): Promise<StateWriter> {
  const engine = createMemoryEngine()
  let keeper = SliceKeeper.begin(spec, 0n)
  for (let from = 0; from < versions.length; from += batch) {
    if (resumesAt && from >= resumesAt && from < resumesAt + batch) keeper = resumeFrom(engine)
    const some = versions.slice(from, from + batch).map((writes, at) => {
      const version = BigInt(from + at)
      const kept = keptOf(keeper, engine, version, writes)
      return {
        version,
        block: blockOf(version),
        writes: [...kept, ...keeper.takeRecords(), ...keeper.deletionsIn(kept)],
      }
    })
    await engine.commit(some, { chainId: 4 })
    keeper.settle()
  }
  return engine
}

/** Repeats work of a keeper until it lacks nothing. */
function completed<T>(keeper: SliceKeeper, engine: StateWriter, work: () => T): T {
  for (;;) {
    const answer = work()
    if (keeper.lacking.length === 0) return answer
    for (const key of keeper.lacking) keeper.provide(key, engine.ledger && engine.at().get(key))
  }
}

/** The part of a version that a keeper keeps. The store has all versions before the batch. */
export function keptOf(keeper: SliceKeeper, engine: StateWriter, version: bigint, writes: readonly Write[]) {
  for (;;) {
    const kept = completed(keeper, engine, () => keeper.keep(version, writes))
    if (keeper.typedLate.length === 0) return kept
    for (const handle of keeper.typedLate) {
      const items = engine.ledger ? [...engine.at().scan(tableKeyPrefix(handle))] : []
      completed(keeper, engine, () => keeper.lookAgain(items))
      completed(keeper, engine, () => keeper.endLook(handle))
    }
  }
}

function resumeFrom(engine: StateWriter): SliceKeeper {
  const view = engine.at()
  const keeper = SliceKeeper.resume(view.get(Uint8Array.of(0xfe, 5))!)
  for (const { key, value } of view.scan(Uint8Array.of(0xfe))) keeper.restore(key, value)
  return keeper
}

/** Every state key that a random ledger can have, and a few that it cannot. */
export function universe(): Uint8Array[] {
  const addresses = [...ACCOUNTS, ...OBJECTS, parseAddress('0x1'), parseAddress('0xf0')]
  return [
    ...addresses.flatMap((address) => [resourceKey(address, PLAIN), resourceKey(address, BOX)]),
    ...[...addresses, ...STORES.map(({ address }) => address)].map((address) => resourceGroupKey(address, GROUP)),
    ...[...OUTER_TABLES, ...INNER_TABLES, ...LEAF_TABLES].flatMap((handle) =>
      [0n, 1n, 2n, 3n].map((n) => tableItemKey(handle, u64(n))),
    ),
    moduleKey(parseAddress('0x5'), 'm'),
    moduleKey(parseAddress('0x6'), 'm'),
  ]
}
