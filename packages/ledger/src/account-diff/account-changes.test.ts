import { ByteWriter, bytesToHex, parseAddress, type Write } from '@ledger-state/core'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { parseStructTag, resourceGroupKey, resourceKey, writeStructTag } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadAccountFixture } from '../../testing/account-fixture.ts'
import { engineOf } from '../../testing/engine-of.ts'
import {
  type AccountChange,
  type AccountChangesOptions,
  isUnreadable,
  type LedgerState,
  listAccountChanges,
  listAccountChangesInSteps,
  listAccountModules,
  listResources,
  pairedMetadataAddress,
  primaryStoreAddress,
} from '../index.js'
import { createLedger } from '../state/create-ledger.js'

/** Everything that an account holds, by kind. */
function contents(state: LedgerState, address: Uint8Array): Map<string, string> {
  const found = new Map<string, string>()
  for (const { name, bytes } of listAccountModules(state, address)) found.set(`module ${name}`, bytesToHex(bytes))
  for (const resource of listResources(state, address)) found.set(resource.typeText(), bytesToHex(resource.bytes))
  return found
}

/**
 * Everything that an account holds, with the primary stores of the chain's asset and of coins for which the account has
 * a store in either state.
 */
function contentsWithStores(state: LedgerState, other: LedgerState, address: Uint8Array): Map<string, string> {
  const all = contents(state, address)
  const coins = [...all.keys(), ...contents(other, address).keys()].flatMap((name) => {
    return /^0x1::coin::CoinStore<(.*)>$/.exec(name)?.[1] ?? []
  })
  const assets = [parseAddress('0xa'), ...coins.map((coin) => pairedMetadataAddress(parseStructTag(coin)))]
  for (const asset of assets) {
    const store = primaryStoreAddress(address, asset)
    for (const [name, bytes] of contents(state, store)) all.set(`${bytesToHex(store)} ${name}`, bytes)
  }
  return all
}

function describeChange(change: AccountChange): [string, (string | undefined)[]] {
  const place = change.kind === 'resource' && change.store ? `${bytesToHex(change.store.address)} ` : ''
  const name = change.kind === 'module' ? `module ${change.name}` : place + (change.before ?? change.after)!.typeText()
  return [name, [change.before, change.after].map((side) => side && bytesToHex(side.bytes))]
}

describe.skipIf(!hasSharedData)('the changes of accounts of the account fixture', () => {
  it('are the differences between the lists of both versions, in pages of any size', async () => {
    const { engine, addresses } = await loadAccountFixture()
    const ledger = createLedger(engine)
    const version = fc.bigInt(0n, ledger.info!.latestVersion)
    fc.assert(
      fc.property(
        fc.constantFrom(...addresses),
        version,
        version,
        fc.integer({ min: 1, max: 5 }),
        (text, a, b, limit) => {
          const address = parseAddress(text)
          const [from, to] = a < b ? [a, b] : [b, a]
          const state = ledger.at(to)
          const before = contentsWithStores(ledger.at(from), state, address)
          const after = contentsWithStores(state, ledger.at(from), address)
          const expected = new Map<string, (string | undefined)[]>()
          for (const name of new Set([...before.keys(), ...after.keys()])) {
            const sides = [before.get(name), after.get(name)]
            if (sides[0] !== sides[1]) expected.set(name, sides)
          }
          const all = Array.from(listAccountChanges(state, address, from), describeChange)
          expect(new Map(all)).toEqual(expected)
          expect(all).toHaveLength(expected.size)

          for (const end of [{ limit }, { isFull: () => true }]) {
            const paged: typeof all = []
            let start: Uint8Array | undefined
            do {
              const page = listAccountChanges(state, address, from, { start, ...end })
              paged.push(...Array.from(page, describeChange))
              start = page.cursor
            } while (start !== undefined)
            expect(paged).toEqual(all)
          }
        },
      ),
    )
  })
})

it('a comparison of two versions ends a page after a bounded number of keys that did not change', async () => {
  const HOME = parseAddress('0xcafe')
  const marker = (at: number, byte: number): Write => {
    return [resourceKey(HOME, parseStructTag(`0x1::m::Marker${10_000 + at}`)), Uint8Array.of(byte)]
  }
  const writes = Array.from({ length: 1_500 }, (_, at) => marker(at, 0))
  const state = createLedger(await engineOf(writes, [marker(1_499, 1)])).at()
  const first = listAccountChanges(state, HOME, 0n)
  expect([...first]).toEqual([])
  // The store of the chain's asset is one of the thousand.
  expect(bytesToHex(first.cursor!)).toBe(bytesToHex(marker(999, 0)[0]))
  const second = listAccountChanges(state, HOME, 0n, { start: first.cursor })
  expect([...second]).toMatchObject([{ kind: 'resource', tag: { name: 'Marker11499' } }])
  expect(second.cursor).toBeUndefined()
})

it('a comparison of two versions of a long group is made in steps, with at most a hundred members in each', async () => {
  const owner = parseAddress('0xcafe')
  const key = resourceGroupKey(owner, parseStructTag('0x1::object::ObjectGroup'))
  const MEMBERS = 2_000
  const groupOf = (bytes: (at: number) => number): Uint8Array => {
    const writer = new ByteWriter().uleb128(MEMBERS)
    for (let at = 0; at < MEMBERS; at++) {
      writeStructTag(writer, parseStructTag(`0x1::m::Member${10_000 + at}`))
      writer.byteString(Uint8Array.of(bytes(at)))
    }
    return writer.toBytes()
  }
  const engine = await engineOf([[key, groupOf(() => 0)]], [[key, groupOf((at) => Number(at % 2 === 1))]])
  const state = createLedger(engine).at()
  const changes = [...listAccountChangesInSteps(state, owner, 0n)]
  const changed = changes.filter((change) => change !== undefined)
  expect(changed).toHaveLength(MEMBERS / 2)
  // Both groups are read, compared, and what differs is sorted.
  expect(changes.length - changed.length).toBeGreaterThan((3 * MEMBERS) / 100)
  expect(Array.from(listAccountChanges(state, owner, 0n), describeChange)).toEqual(changed.map(describeChange))
})

it('a comparison of two versions has the members of a group that cannot be read at one of the versions, with the error of the read', async () => {
  const owner = parseAddress('0xcafe')
  const key = resourceGroupKey(owner, parseStructTag('0x1::object::ObjectGroup'))
  const group = new ByteWriter().uleb128(1)
  writeStructTag(group, parseStructTag('0x1::a::Member'))
  const whole = group.byteString(Uint8Array.of(1)).toBytes()
  const cut = Uint8Array.of(3)
  const engine = await engineOf([[key, whole]], [[key, cut]], [[key, Uint8Array.of(4)]], [[key, null]])
  const ledger = createLedger(engine)
  const seen = (from: bigint, to: bigint) =>
    Array.from(listAccountChanges(ledger.at(to), owner, from), (change) => {
      const sides = [change.before, change.after].map((side) => {
        if (!side || !('toJson' in side)) return undefined
        return seenError(() => side.toJson())
      })
      return [describeChange(change)[0], ...sides]
    })
  const unreadable = 'stored_data_invalid'
  // No module declares the member, so its value has an error, too.
  expect(seen(0n, 1n)).toEqual([['0x1::a::Member', unreadable, unreadable]])
  expect(seen(1n, 2n)).toEqual([['0x1::object::ObjectGroup', unreadable, unreadable]])
  expect(seen(2n, 3n)).toEqual([['0x1::object::ObjectGroup', unreadable, undefined]])
  expect(seen(0n, 3n)).toEqual([['0x1::a::Member', unreadable, undefined]])
})

function seenError(read: () => string): string {
  try {
    return read()
  } catch (error) {
    return isUnreadable(error) ? error.code : String(error)
  }
}

describe('the primary stores of an account', () => {
  const OWNER = parseAddress('0xcafe')
  const BEAN = parseStructTag('0x7::bean::Bean')
  const storeOf = (asset: Uint8Array) => primaryStoreAddress(OWNER, asset)
  const groupWith = (asset: Uint8Array, balance: bigint): Write => {
    const value = new ByteWriter().bytes(asset).u64(balance).bool(false).toBytes()
    const group = new ByteWriter().uleb128(1)
    writeStructTag(group, parseStructTag('0x1::fungible_asset::FungibleStore'))
    const key = resourceGroupKey(storeOf(asset), parseStructTag('0x1::object::ObjectGroup'))
    return [key, group.byteString(value).toBytes()]
  }
  const coinStore: Write = [
    resourceKey(OWNER, { ...parseStructTag('0x1::coin::CoinStore'), typeArguments: [BEAN] }),
    new Uint8Array(105),
  ]
  const [APT, PAIRED, OTHER] = [parseAddress('0xa'), pairedMetadataAddress(BEAN), parseAddress('0xb')]

  it('are among its changes: the primary stores of the chain asset and of its coins, in pages of any size', async () => {
    const engine = await engineOf(
      [coinStore, groupWith(APT, 1n), groupWith(PAIRED, 1n), groupWith(OTHER, 1n)],
      [groupWith(APT, 2n), groupWith(PAIRED, 2n), groupWith(OTHER, 2n)],
    )
    const state = createLedger(engine).at()
    const seen = (options: AccountChangesOptions) => {
      const page = listAccountChanges(state, OWNER, 0n, options)
      const stores = [...page].map((change) => (change.kind === 'resource' ? change.store : undefined))
      return { stores: stores.map((store) => store && bytesToHex(store.address)), cursor: page.cursor }
    }
    const expected = [APT, PAIRED].map((asset) => bytesToHex(storeOf(asset)))
    expect(seen({})).toEqual({ stores: expected, cursor: undefined })
    const named = [OTHER, APT, PAIRED].map((asset) => bytesToHex(storeOf(asset)))
    expect(seen({ assets: [OTHER, PAIRED, APT, OTHER] }).stores.toSorted()).toEqual(
      [undefined, ...named].filter(Boolean).toSorted(),
    )
    for (const assets of [[], [OTHER], [OTHER, PAIRED]]) {
      const all = seen({ assets }).stores
      for (const limit of [1, 2, 3]) {
        const pages: (typeof all)[] = []
        let start: Uint8Array | undefined
        do {
          const page = seen({ assets, limit, start })
          pages.push(page.stores)
          start = page.cursor
        } while (start)
        expect(pages.flat()).toEqual(all)
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
        expect(pages.at(-1)!.length).toBeLessThanOrEqual(limit)
      }
    }
  })

  it('count one by one towards the limit of a page, as the coin store before them', async () => {
    const changed: Write = [coinStore[0], new Uint8Array(105).fill(1)]
    // Shorter names come first.
    const first: Write = [resourceKey(OWNER, parseStructTag('0x9::z::Z')), Uint8Array.of(1)]
    const engine = await engineOf([coinStore, groupWith(PAIRED, 1n)], [changed, groupWith(PAIRED, 2n), first])
    const state = createLedger(engine).at()
    const pages: string[][] = []
    let start: Uint8Array | undefined
    do {
      const page = listAccountChanges(state, OWNER, 0n, { limit: 1, start })
      pages.push(Array.from(page, (change) => describeChange(change)[0]))
      start = page.cursor
    } while (start)
    const names = [
      '0x9::z::Z',
      '0x1::coin::CoinStore<0x7::bean::Bean>',
      `${bytesToHex(storeOf(PAIRED))} 0x1::fungible_asset::FungibleStore`,
    ]
    expect(pages).toEqual(names.map((name) => [name]))
  })

  it('are found for a coin whose store is gone since', async () => {
    const engine = await engineOf([coinStore], [[coinStore[0], null], groupWith(PAIRED, 7n)])
    const kinds = Array.from(listAccountChanges(createLedger(engine).at(), OWNER, 0n), (change) => {
      return [describeChange(change)[0], change.before !== undefined, change.after !== undefined]
    })
    expect(kinds).toEqual([
      ['0x1::coin::CoinStore<0x7::bean::Bean>', true, false],
      [`${bytesToHex(storeOf(PAIRED))} 0x1::fungible_asset::FungibleStore`, false, true],
    ])
  })
})
