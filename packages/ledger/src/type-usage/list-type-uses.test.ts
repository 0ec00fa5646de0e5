import { addressToShortHex, ByteWriter, bytesToHex, parseAddress, type Write } from '@ledger-state/core'
import { engineToAsync } from '@ledger-state/engine'
import { ABILITY, type SignatureToken, writeModule } from '@ledger-state/move-module'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import {
  moduleKey,
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  typeTagToText,
  writeStructTag,
} from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadAccountFixture } from '../../testing/account-fixture.ts'
import { engineOf } from '../../testing/engine-of.ts'
import { createAsyncLedger } from '../async/async-ledger.js'
import {
  type LedgerState,
  type ListOptions,
  listAccountModules,
  listResources,
  listTypeUses,
  listTypeUsesInSteps,
  type TypeUse,
} from '../index.js'
import { createLedger } from '../state/create-ledger.js'

const COIN = parseStructTag('0xcafe::coin::Coin')
const HOME = parseAddress('0xcafe')
const OTHER = parseAddress('0xdecaf')
const OWNER = parseAddress('0xa11ce')

function describeUse(use: TypeUse): string {
  const what = use.kind === 'resource' ? typeTagToText(use.tag) : `${use.name} ${use.declarations}`
  return `${addressToShortHex(use.address)} ${what}`
}

/** The uses on all pages, and the number of keys that they looked at. */
function allUses(state: LedgerState, text: string, ends: Pick<ListOptions, 'limit' | 'isFull'> = {}) {
  const uses: string[] = []
  let scanned = 0
  let pages = 0
  let start: Uint8Array | undefined
  do {
    const page = listTypeUses(state, parseStructTag(text), { start, ...ends })
    uses.push(...Array.from(page, describeUse))
    scanned += page.scanned
    pages++
    start = page.cursor
  } while (start !== undefined)
  return { uses, scanned, pages }
}

const coin: SignatureToken = {
  kind: 'struct',
  module: { address: HOME, name: 'coin' },
  name: 'Coin',
  typeArguments: [],
}
const struct = (name: string, type: SignatureToken) => ({
  kind: 'struct' as const,
  name,
  abilities: ABILITY.key,
  typeParameters: [],
  fields: [{ name: 'held', type }],
})

const group = (...members: readonly string[]): Uint8Array => {
  const writer = new ByteWriter().uleb128(members.length)
  for (const member of members) {
    writeStructTag(writer, parseStructTag(member))
    writer.byteString(Uint8Array.of(1))
  }
  return writer.toBytes()
}

const GROUP = parseStructTag('0x1::object::ObjectGroup')
const WRITES: readonly Write[] = [
  [
    moduleKey(HOME, 'coin'),
    writeModule({ version: 7, address: HOME, name: 'coin', structs: [struct('Coin', { kind: 'u64' })] }),
  ],
  [
    moduleKey(OTHER, 'shop'),
    writeModule({
      version: 7,
      address: OTHER,
      name: 'shop',
      structs: [struct('Till', { kind: 'vector', element: coin }), struct('Shelf', { kind: 'u8' })],
    }),
  ],
  // A value that has the bytes of the type's name and is not a module.
  [moduleKey(OTHER, 'torn'), new ByteWriter().bytes(HOME).string('coin').string('Coin').toBytes()],
  [resourceKey(OWNER, parseStructTag('0x1::box::Box<vector<0xcafe::coin::Coin>>')), Uint8Array.of(1)],
  [resourceKey(OWNER, parseStructTag('0xcafe::coin::Coins')), Uint8Array.of(1)],
  [resourceKey(OTHER, COIN), Uint8Array.of(1)],
  [resourceGroupKey(OWNER, GROUP), group('0x1::a::A', '0x1::box::Box<0xcafe::coin::Coin>')],
  [resourceGroupKey(OTHER, GROUP), group('0x1::a::A', '0xcafe::coin::Coin').subarray(0, -1)],
  [tableItemKey(HOME, Uint8Array.of(1)), new ByteWriter().bytes(HOME).string('coin').string('Coin').toBytes()],
]

const EXPECTED = [
  '0xa11ce 0x1::box::Box<0xcafe::coin::Coin>',
  '0xa11ce 0x1::box::Box<vector<0xcafe::coin::Coin>>',
  '0xdecaf 0xcafe::coin::Coin',
  '0xdecaf shop Till',
]

describe('uses of a type', () => {
  it('are resources of it or with it as an argument, members of groups, and declarations of modules', async () => {
    const state = createLedger(await engineOf(WRITES)).at()
    const { uses, scanned, pages } = allUses(state, '0xcafe::coin::Coin')
    expect(uses.toSorted()).toEqual(EXPECTED)
    // All keys except the key of the table.
    expect([scanned, pages]).toEqual([WRITES.length - 1, 1])
    const single = allUses(state, '0xcafe::coin::Coin', { limit: 1 })
    expect([single.uses, single.scanned]).toEqual([uses, scanned])
    expect(single.pages).toBeGreaterThanOrEqual(uses.length)
    expect(allUses(state, '0xcafe::coin::Coin', { isFull: () => true }).uses).toEqual(uses)
    expect(allUses(state, '0xcafe::coin::None').uses).toEqual([])
  })

  it('are found over an async engine, too', async () => {
    const asyncLedger = createAsyncLedger(engineToAsync(await engineOf(WRITES)))
    const found = await asyncLedger.read((ledger) => allUses(ledger.at(), '0xcafe::coin::Coin'))
    expect(found.uses.toSorted()).toEqual(EXPECTED)
  })

  it('in a long group are found in steps, at most a hundred members in each', async () => {
    const members = Array.from({ length: 2_000 }, (_, at) => `0x1::m::Member${10_000 + at}`)
    const writes: Write[] = [[resourceGroupKey(OWNER, GROUP), group(...members, '0xcafe::coin::Coin')]]
    const state = createLedger(await engineOf(writes)).at()
    const found = [...listTypeUsesInSteps(state, COIN)]
    expect(found.filter((use) => use !== undefined).map(describeUse)).toEqual(['0xa11ce 0xcafe::coin::Coin'])
    expect(found.length).toBeGreaterThan(members.length / 100)
    expect(Array.from(listTypeUses(state, COIN), describeUse)).toEqual(['0xa11ce 0xcafe::coin::Coin'])
  })

  it('end a page after a bounded number of keys, and after bounded bytes', async () => {
    const marker = (at: number, bytes: Uint8Array): Write => [
      resourceKey(OWNER, parseStructTag(`0x1::m::Marker${10_000 + at}`)),
      bytes,
    ]
    const many = Array.from({ length: 2_500 }, (_, at) => marker(at, Uint8Array.of(1)))
    const state = createLedger(await engineOf([...many, [resourceKey(OTHER, COIN), Uint8Array.of(1)]])).at()
    const first = listTypeUses(state, COIN)
    expect([[...first], first.scanned]).toEqual([[], 1_000])
    expect(bytesToHex(first.cursor!)).toBe(bytesToHex(marker(1_000, Uint8Array.of(1))[0]))
    expect(allUses(state, '0xcafe::coin::Coin')).toMatchObject({ uses: ['0xdecaf 0xcafe::coin::Coin'], pages: 3 })

    const large = Array.from({ length: 20 }, (_, at) => marker(at, new Uint8Array(1 << 20)))
    const page = listTypeUses(createLedger(await engineOf(large)).at(), COIN)
    expect([[...page], page.scanned]).toEqual([[], 8])

    // Values that must be parsed count more.
    const tagged = new ByteWriter()
      .bytes(HOME)
      .string('coin')
      .string('Coin')
      .bytes(new Uint8Array(1 << 18))
      .toBytes()
    const parsed = Array.from({ length: 20 }, (_, at) => marker(at, tagged))
    const short = listTypeUses(createLedger(await engineOf(parsed)).at(), COIN)
    expect([[...short], short.scanned]).toEqual([[], 2])
  })
})

describe.skipIf(!hasSharedData)('uses of types in the account fixture', () => {
  it('are the same uses that a scan of all accounts finds, in pages of any size', async () => {
    const { engine, addresses } = await loadAccountFixture()
    const state = createLedger(engine).at()
    const types: string[] = []
    const texts: (readonly [string, string])[] = []
    for (const address of addresses.map((one) => parseAddress(one))) {
      for (const { tag } of listResources(state, address))
        texts.push([describeUse({ kind: 'resource', address, tag }), typeTagToText(tag)])
      for (const module of listAccountModules(state, address)) {
        const structs = module.readAbi()?.structs ?? []
        types.push(...structs.map(({ name }) => `${addressToShortHex(address)}::${module.name}::${name}`))
      }
    }
    const isNamed = (text: string, type: string): boolean => new RegExp(`(?<!\\w)${type}(?!\\w)`).test(text)
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.integer({ min: 1, max: 5 }), (type, limit) => {
        const found = allUses(state, type).uses
        const expected = texts.filter(([, text]) => isNamed(text, type)).map(([use]) => use)
        expect(found.filter((use) => expected.includes(use)).toSorted()).toEqual(expected.toSorted())
        expect(found.filter((use) => / 0x/.test(use))).toHaveLength(expected.length)
        expect(allUses(state, type, { limit }).uses).toEqual(found)
      }),
      { numRuns: 30 },
    )
  })
})
