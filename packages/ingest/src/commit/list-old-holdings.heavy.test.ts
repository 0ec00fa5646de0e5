// Lists of holdings at a version that lacks nearly all rows of its store.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import {
  createLedger,
  type HoldingsPage,
  type LedgerState,
  listActivities,
  listBalances,
  listHolders,
  listLargestHolders,
  listOwnedObjects,
  listTokens,
} from '@ledger-state/ledger'
import { objectKey } from '@ledger-state/records'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { parseStructTag, writeStructTag } from '@ledger-state/type-tag'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.js'
import { ingestSource } from './ingest-source.js'

const OWNER = parseAddress('0xa11ce')
const ASSET = parseAddress('0xfa1')
const COLLECTION = parseAddress('0xc1')
/** Numbers of the objects of version 0: a tenth, a half and nine tenths of the way through the later ones. */
const OLD = [1_200, 6_000, 10_800]
const LATER = 12_000
/** Rows that a page reads or skips, and keys that a scan skips in one step: see `row-listing.ts`, and the engine. */
const MOST_ROWS = 10_000
const MOST_KEYS = 256

/** The address of an object: addresses of old objects lie among addresses of later ones. */
const addressAt = (number: number, isOld: boolean): Uint8Array =>
  parseAddress(`0x${(0x1_0000_0000 + 2 * number + (isOld ? 1 : 0)).toString(16)}`)

/** An object that is a store and a token. */
function objectWrite(address: Uint8Array): Write {
  const events = new Uint8Array(48)
  const members: readonly (readonly [string, ByteWriter])[] = [
    ['0x1::fungible_asset::FungibleStore', new ByteWriter().bytes(ASSET).u64(5n).bool(false)],
    ['0x1::object::ObjectCore', new ByteWriter().u64(1n).bytes(OWNER).bool(true).bytes(events)],
    ['0x4::token::Token', new ByteWriter().bytes(COLLECTION)],
  ]
  const encoded = members.map(([type, value]) => {
    const name = new ByteWriter()
    writeStructTag(name, parseStructTag(type))
    return [Buffer.from(name.toBytes()), value.toBytes()] as const
  })
  const group = new ByteWriter().uleb128(encoded.length)
  for (const [name, bytes] of encoded.sort(([a], [b]) => Buffer.compare(a, b))) group.bytes(name).byteString(bytes)
  return [objectKey(address), group.toBytes()]
}

const folder = mkdtempSync(join(tmpdir(), 'old-holdings-'))
let engine: StateEngine
beforeAll(async () => {
  engine = openStateEngine({ path: folder, durability: 'none' })
  const block = (height: bigint) => ({ height, epoch: 0n, timestampUsec: height })
  const old = OLD.map((number) => objectWrite(addressAt(number, true)))
  const later = Array.from({ length: LATER }, (_, number) => objectWrite(addressAt(number, false)))
  await ingestSource(
    engine,
    listedSource([
      { version: 0n, block: block(0n), writes: old },
      { version: 1n, block: block(1n), writes: later },
    ]),
  )
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

type List = (state: LedgerState, options: { start?: Uint8Array | undefined; limit: number }) => HoldingsPage<unknown>

const LISTS: readonly (readonly [string, List])[] = [
  ['balances', (state, options) => listBalances(state, OWNER, options)],
  ['objects', (state, options) => listOwnedObjects(state, OWNER, options)],
  ['holders', (state, options) => listHolders(state, { kind: 'fungibleAsset', metadata: ASSET }, options)],
  ['tokens', (state, options) => listTokens(state, COLLECTION, options)],
]

it.each(LISTS)('%s of an old version are listed in steps, and in pages within the budget', (_, list) => {
  const state = createLedger(engine).at(0n)
  for (const limit of [1, 100]) {
    const found: unknown[] = []
    let steps = 0
    let pages = 0
    let start: Uint8Array | undefined
    do {
      const page = list(state, { start, limit })
      let stepsOfPage = 0
      for (const item of page) {
        if (item === undefined) stepsOfPage++
        else found.push(item)
      }
      expect(stepsOfPage).toBeLessThanOrEqual(MOST_ROWS)
      steps += stepsOfPage
      pages++
      start = page.cursor
    } while (start)
    expect(found).toHaveLength(OLD.length)
    // A page may end at a step, which it then does not give.
    expect(steps + pages).toBeGreaterThanOrEqual(LATER / MOST_KEYS)
    expect(pages).toBeGreaterThan(limit === 1 ? OLD.length - 1 : 1)
  }
})

it.each(LISTS)('%s of the newest version are all listed in pages', (_, list) => {
  const state = createLedger(engine).at()
  let count = 0
  let start: Uint8Array | undefined
  do {
    const page = list(state, { start, limit: 1_000 })
    for (const item of page) if (item !== undefined) count++
    start = page.cursor
  } while (start)
  expect(count).toBe(LATER + OLD.length)
})

it('the largest holders and the activities of an old version are found in steps', () => {
  const state = createLedger(engine).at(0n)
  const holders = [...listLargestHolders(state, { kind: 'fungibleAsset', metadata: ASSET })]
  expect(holders.filter((one) => one !== undefined)).toHaveLength(OLD.length)
  expect(holders.length).toBeGreaterThanOrEqual(LATER / MOST_KEYS)
  const activities = [...listActivities(state, OWNER, { limit: 100 })]
  expect(activities.filter((one) => one !== undefined)).toHaveLength(OLD.length)
  expect(activities.length).toBeGreaterThanOrEqual(LATER / MOST_KEYS)
})
