import { Buffer } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { ByteReader, ByteWriter, bytesToHexDigits } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  accountTransactions,
  affectingTransactions,
  createLedger,
  eventsOfType,
  type FoundOptions,
  type FoundPage,
  type LedgerState,
  streamEvents,
  transactionSummaries,
} from '@ledger-state/ledger'
import { type ContractEvent, readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { RUN_VERSIONS } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { STATE_KEY_ADDRESS_AT, type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { feedOfStore } from '../../testing/feed-of-store.ts'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 90 })
const LAST = Number(chain.latestVersion)

interface ExpectedEvent {
  readonly version: number
  readonly event: ContractEvent
  /** Version and event in BCS, in hex. */
  readonly hex: string
}

const EVENTS: readonly ExpectedEvent[] = chain.records.flatMap(({ events }, version) =>
  Array.from(readBcsList(new ByteReader(events), readWithBytes), ({ event, bytes }) => {
    const hex = Buffer.from(new ByteWriter().u64(BigInt(version)).bytes(bytes).toBytes()).toString('hex')
    return { version, event, hex }
  }),
)

function readWithBytes(reader: ByteReader) {
  const start = reader.offset
  const event = readEvent(reader)
  return { event, bytes: reader.bytes.subarray(start, reader.offset) }
}

let bed: StoreBed
let engine: StateWriter
beforeEach(async () => {
  bed = createStoreBed()
  writeBackup(chain, bed.at('backup'))
  engine = createMemoryEngine()
  await ingestAll()
})
afterEach(() => {
  vi.unstubAllEnvs()
  bed.close()
})

async function ingestAll(into = engine, from = 'backup'): Promise<void> {
  const source = await openSource(bed.at(from), { thread: false, unsigned: true })
  await ingestSource(into, source, { keepTransactions: 'whole' })
  await source.close()
}

/** All pages of a list, of some size, one after the other. */
function pagesOf<T>(limit: number, order: 'asc' | 'desc', open: (options: FoundOptions) => FoundPage<T>): T[] {
  const all: T[] = []
  let start: FoundOptions['start']
  do {
    const page = open({ order, limit, start })
    const items = [...page].filter((item) => item !== undefined)
    expect(items.length).toBeLessThanOrEqual(limit)
    all.push(...items)
    start = page.cursor
  } while (start)
  return all
}

const inOrder = <T>(items: readonly T[], order: 'asc' | 'desc'): readonly T[] =>
  order === 'asc' ? items : items.toReversed()

/** Checks all indexes of the versions that a window has, with pages of several sizes. */
function expectIndexes(state: LedgerState, limits: readonly number[] = [1, 3, 100]): void {
  const [first, last] = [Number(state.ledger.oldestVersion), Number(state.version)]
  const within = <T extends { readonly version: number }>(items: readonly T[]): T[] =>
    items.filter(({ version }) => version >= first && version <= last)
  const types = new Map(EVENTS.map(({ event }) => [typeTagToText(event.type), event.type] as const))
  for (const order of ['asc', 'desc'] as const) {
    for (const limit of limits) {
      expectTypes(state, within(EVENTS), types, order, limit)
      expectAffected(state, first, last, order, limit)
    }
  }
}

function expectTypes(
  state: LedgerState,
  events: readonly ExpectedEvent[],
  types: ReadonlyMap<string, TypeTag>,
  order: 'asc' | 'desc',
  limit: number,
): void {
  for (const [text, type] of types) {
    const found = pagesOf(limit, order, (options) => eventsOfType(state, type, options))
    const expected = events.filter(({ event }) => typeTagToText(event.type) === text).map(({ hex }) => hex)
    expect(found.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).toEqual(inOrder(expected, order))
  }
}

function expectAffected(state: LedgerState, first: number, last: number, order: 'asc' | 'desc', limit: number): void {
  const affected = new Map<string, { readonly address: Uint8Array; readonly versions: Set<bigint> }>()
  for (const { version, writes } of chain.expected.slice(first, last + 1)) {
    for (const [key] of writes) {
      if (key[0] !== 0 && key[0] !== 1) continue
      const address = key.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + 32)
      const one = affected.get(bytesToHexDigits(address)) ?? { address, versions: new Set() }
      one.versions.add(version)
      affected.set(bytesToHexDigits(address), one)
    }
  }
  if (first === 0) expect(affected.size).toBeGreaterThan(3)
  // Some addresses are enough: each is asked in pages of several sizes.
  for (const { address, versions } of [...affected.values()].slice(0, 12)) {
    const found = pagesOf(limit, order, (options) => affectingTransactions(state, address, options))
    expect(found.map(({ version }) => version)).toEqual(inOrder([...versions], order))
  }
}

describe('the indexes of whole transactions', () => {
  it('find events by type and changed accounts, in pages of every size, also a second time', () => {
    expect(EVENTS.length).toBeGreaterThan(10)
    const state = createLedger(engine).at()
    for (let times = 0; times < 2; times++) expectIndexes(state)
  })

  it('leave with the window', async () => {
    await engine.prune(30n)
    expectIndexes(createLedger(engine).at())
    await engine.prune(1n)
    expectIndexes(createLedger(engine).at())
  })

  it('are cut off with their versions, and come again', async () => {
    await engine.truncateTo(40n)
    expectIndexes(createLedger(engine).at())
    await ingestAll()
    expectIndexes(createLedger(engine).at())
  })

  it('are cut off in any block of a group of several, and groups of other sizes follow', async () => {
    expect(LAST).toBeGreaterThan(2 * Number(RUN_VERSIONS))
    const random = createRandom(testSeed())
    for (const batch of [1_000, 50, 7]) {
      vi.stubEnv('LEDGER_STATE_BATCH_VERSIONS', String(batch))
      const { oldestVersion } = engine.ledger!
      await engine.truncateTo(oldestVersion + BigInt(random.below(LAST - Number(oldestVersion) + 1)))
      expectIndexes(createLedger(engine).at(), [7])
      await ingestAll()
      expectIndexes(createLedger(engine).at(), [7])
      await engine.prune(BigInt(1 + random.below(LAST)))
      expectIndexes(createLedger(engine).at(), [7])
    }
  })

  it('come with a copy of the store, which begins with a state in the middle of a group', async () => {
    for (const base of [40n, BigInt(LAST - 20)]) {
      writeFileSync(bed.at('feed'), feedOfStore(engine, base, LAST))
      const copy = createMemoryEngine()
      await ingestAll(copy, 'feed')
      expectIndexes(createLedger(copy).at())
      await copy.truncateTo(base + 10n)
      expectIndexes(createLedger(copy).at())
    }
  })

  it('show a pinned state of a growing ledger', async () => {
    await engine.truncateTo(40n)
    const pinned = createLedger(engine).at()
    expectIndexes(pinned)
    const source = await openSource(bed.at('backup'), { thread: false, unsigned: true })
    await ingestSource(engine, source, {})
    await source.close()
    expect(Number(engine.ledger!.latestVersion)).toBe(LAST)
    expectIndexes(pinned)
  })

  it('list the transactions of each sender, by version', () => {
    const state = createLedger(engine).at()
    const senders = new Map<string, { readonly sender: Uint8Array; readonly versions: bigint[] }>()
    for (const [version, { transaction }] of chain.records.entries()) {
      if (transaction[0] !== 0) continue
      const sender = transaction.subarray(1, 33)
      const one = senders.get(bytesToHexDigits(sender)) ?? { sender, versions: [] }
      one.versions.push(BigInt(version))
      senders.set(bytesToHexDigits(sender), one)
    }
    expect(senders.size).toBeGreaterThan(0)
    for (const { sender, versions } of senders.values()) {
      const all = transactionSummaries(state, sender, { startVersion: 0n, limit: 1_000 })
      expect(all.map(({ version }) => version)).toEqual(versions)
      const newest = transactionSummaries(state, sender, { limit: 2 })
      expect(newest.map(({ version }) => version)).toEqual(versions.slice(-2))
      const older = transactionSummaries(state, sender, { endVersion: versions.at(-1)! - 1n, limit: 1_000 })
      expect(older.map(({ version }) => version)).toEqual(versions.slice(0, -1))
    }
    const nobody = new Uint8Array(32).fill(0xee)
    expect([...accountTransactions(state, nobody, { limit: 5 })]).toEqual([])
    expect([...streamEvents(state, { address: nobody, creationNumber: 77n }, { limit: 5 })]).toEqual([])
  })
})
