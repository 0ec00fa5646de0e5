import { writeFileSync } from 'node:fs'
import { ByteReader, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { feedHeaderLine, openSource, type SourceOptions, versionToFeedLine } from '@ledger-state/feed'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  accountTransactions,
  affectingTransactions,
  createLedger,
  eventsOfType,
  type LedgerState,
  streamEvents,
  transactionSummaries,
} from '@ledger-state/ledger'
import { readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import type { IngestOptions } from './ingest-options.js'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = chain.latestVersion
const UNPROVEN = { verify: false }

const SENDERS = new Set(
  chain.records.flatMap(({ transaction }) => (transaction[0] === 0 ? [hex(transaction.subarray(1, 33))] : [])),
)
const EVENTS = chain.records.flatMap(({ events }) => [...readBcsList(new ByteReader(events), readEvent)])
const STREAMS = new Map(EVENTS.flatMap(({ key }) => (key ? [[`${hex(key.address)} ${key.creationNumber}`, key]] : [])))

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

let bed: StoreBed
beforeEach(() => {
  bed = createStoreBed()
  writeBackup(chain, bed.at('backup'))
})
afterEach(() => bed.close())

async function ingest(engine: StateWriter, location: string, options: IngestOptions & SourceOptions = {}) {
  const source = await openSource(location, { thread: false, unsigned: true, ...options })
  try {
    await ingestSource(engine, source, options)
  } finally {
    await source.close()
  }
}

/** A store that was given all whole transactions. */
async function completeStore(last = LAST): Promise<StateWriter> {
  const engine = createMemoryEngine()
  for (const to of [20n, 61n, LAST]) await ingest(engine, bed.at('backup'), { to: to < last ? to : last })
  return engine
}

/** Stores that lack whole transactions of a part of their window, and the first version after that part. */
const STORES: Readonly<Record<string, () => Promise<readonly [engine: StateWriter, completeSince: bigint]>>> = {
  'begins without them': async () => {
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), { ...UNPROVEN, to: 50n })
    const since = engine.ledger!.latestVersion + 1n
    await ingest(engine, bed.at('backup'), { keepTransactions: 'whole' })
    return [engine, since]
  },
  'lacks them between two parts': async () => {
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), { to: 50n })
    await ingest(engine, bed.at('backup'), { ...UNPROVEN, to: 80n })
    const since = engine.ledger!.latestVersion + 1n
    await ingest(engine, bed.at('backup'), { keepTransactions: 'whole' })
    return [engine, since]
  },
  'began with a state': async () => {
    const engine = createMemoryEngine()
    await ingest(engine, writeBackup(chain, bed.at('from state'), { snapshot: { version: 40, chunk: 15 } }))
    await ingest(engine, bed.at('from state'))
    return [engine, 41n]
  },
  'keeps a slice, which resumed within a block of its source': async () => {
    const source = await completeStore()
    const engine = createMemoryEngine()
    const only = { spec: { accounts: [...SENDERS].map((one) => parseAddress(one)), tables: [], types: [] } }
    for (const last of [30n, 63n, 65n, LAST]) {
      writeFileSync(bed.at('feed'), feedOf(source, last))
      await ingest(engine, bed.at('feed'), { only })
    }
    // The blocks of the source begin at 0, 21, 62 and 128.
    return [engine, 128n]
  },
}

function feedOf(engine: StateWriter, last: bigint): string {
  const { block } = engine.blockAt(0n)
  const begun = [...engine.at(0n).scan(new Uint8Array(0))].map(({ key, value }) => [key, value] as const)
  const versions = [{ version: 0n, block, writes: begun }, ...engine.versions(1n, last)]
  return `${[feedHeaderLine({ chainId: SYNTHETIC_CHAIN_ID }), ...versions.map(versionToFeedLine)].join('\n')}\n`
}

/** A list of a ledger: the versions of its items from a place to another, where the place is a number or a version. */
interface List {
  readonly name: string
  read(state: LedgerState, start: bigint | undefined, limit: number): readonly bigint[]
}

function listsOf(sender: string): readonly List[] {
  const address = parseAddress(sender)
  const versionsOf = (items: Iterable<{ readonly version: bigint } | undefined>) =>
    [...items].flatMap((item) => item?.version ?? [])
  return [
    {
      name: `transactions of ${sender}`,
      read: (state, start, limit) => versionsOf(accountTransactions(state, address, { start, limit })),
    },
    {
      name: `summaries of ${sender}`,
      read: (state, startVersion, limit) => versionsOf(transactionSummaries(state, address, { startVersion, limit })),
    },
    ...[...STREAMS]
      .filter(([, key]) => hex(key.address) === sender)
      .map(([name, stream]) => ({
        name: `events of ${name}`,
        read: (state: LedgerState, start: bigint | undefined, limit: number) =>
          versionsOf(streamEvents(state, stream, { start, limit })),
      })),
  ]
}

/** What a list gives: its versions, or `pruned`. */
function outcomeOf(read: () => readonly bigint[]): readonly bigint[] | 'pruned' {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error, 'version_pruned')) return 'pruned'
    throw error
  }
}

/** Every fourth number and version, and the others of every second one in another order. */
const STARTS = [0n, 2n].map((first) => Array.from({ length: Number(LAST) / 4 + 1 }, (_, at) => first + 4n * BigInt(at)))
STARTS[1]!.reverse()

describe.each(Object.entries(STORES))('a store that %s', (name, make) => {
  it('gives whole lists, or says that a part is not kept; twice', async () => {
    const [[engine, since], whole] = [await make(), await completeStore()]
    const [state, all] = [createLedger(engine).at(), createLedger(whole).at()]
    expect(state.transactions.completeSince).toBe(since)
    const counts = { given: 0, pruned: 0 }
    const lists = [...SENDERS].flatMap(listsOf)
    expect(lists.length).toBeGreaterThan(SENDERS.size * 2)
    for (const [starts, { name, read }] of STARTS.flatMap((one) => lists.map((list) => [one, list] as const))) {
      const [newest, expected] = [read(state, undefined, 1_000), read(all, undefined, 1_000)]
      expect([name, newest]).toEqual([name, expected.filter((version) => version >= since)])
      for (const start of starts) {
        for (const limit of [1, 25]) {
          const found = outcomeOf(() => read(state, start, limit))
          const items = read(all, start, limit)
          if (found === 'pruned') counts.pruned++
          else expect([name, start, limit, found]).toEqual([name, start, limit, items])
          // Everything after the part is kept.
          const isKept = name.startsWith('summaries') ? start >= since : items.length > 0 && items[0]! >= since
          if (isKept) expect([name, start, limit, found]).toEqual([name, start, limit, items])
          if (found !== 'pruned' && found.length > 0) counts.given++
        }
      }
    }
    expect(counts).toEqual({
      given: expect.toSatisfy((one) => one > 100),
      pruned: expect.toSatisfy((one) => one > 100),
    })
  })

  it.skipIf(name.includes('slice'))('finds from there, and says whether that is everything', async () => {
    const [[engine, since], whole] = [await make(), await completeStore()]
    const [state, all] = [createLedger(engine).at(), createLedger(whole).at()]
    const searches = [
      ...[...SENDERS].map((one) => (of: LedgerState, from?: bigint) => {
        return affectingTransactions(of, parseAddress(one), { from, order: 'asc', limit: 1_000 })
      }),
      ...EVENTS.slice(0, 5).map(({ type }) => (of: LedgerState, from?: bigint) => {
        return eventsOfType(of, type, { from, order: 'desc', limit: 1_000 })
      }),
    ]
    let found = 0
    for (const search of searches) {
      for (const from of [undefined, 0n, since - 1n, since, since + 7n]) {
        const page = search(state, from)
        const versions = [...page].map((item) => item!.version)
        const expected = [...search(all, from)].map((item) => item!.version)
        expect(versions).toEqual(expected.filter((version) => version >= since))
        expect(page.isComplete).toBe(from === undefined || from >= since)
        found += versions.length
      }
    }
    expect(found).toBeGreaterThan(50)
  })
})

it('a slice that was stopped before the first transaction of a member keeps the later ones, and has empty lists before', async () => {
  const whole = createLedger(await completeStore())
  const firstOf = (sender: string) => accountTransactions(whole.at(), parseAddress(sender), { start: 0n, limit: 1 })
  // The genesis has events of all streams.
  const quiet = [...SENDERS].filter((sender) => listsOf(sender).length === 2)
  const begins = quiet.map((sender) => ({ sender, first: [...firstOf(sender)][0]!.version }))
  const { sender, first } = begins.reduce((one, other) => (other.first > one.first ? other : one))
  const only = { spec: { accounts: [parseAddress(sender)], tables: [], types: [] } }
  const before = first - 1n
  const engine = createMemoryEngine()
  for (const to of [before, LAST]) await ingest(engine, bed.at('backup'), { only, to })
  const slice = createLedger(engine)
  for (const version of [LAST, before, first]) {
    for (const { name, read } of listsOf(sender)) {
      for (const start of [0n, undefined, 1n]) {
        const listed = outcomeOf(() => read(slice.at(version), start, 25))
        expect([name, version, start, listed]).toEqual([name, version, start, read(whole.at(version), start, 25)])
      }
    }
  }
})

it('a store that is no longer given them has no newest items, and older ones at versions that were', async () => {
  const engine = createMemoryEngine()
  await ingest(engine, bed.at('backup'), { to: 50n })
  const { latestVersion: last } = engine.ledger!
  await ingest(engine, bed.at('backup'), UNPROVEN)
  const ledger = createLedger(engine)
  const all = createLedger(await completeStore(last)).at()
  for (const { name, read } of [...SENDERS].flatMap(listsOf)) {
    for (const start of [undefined, 3n]) {
      expect([name, outcomeOf(() => read(ledger.at(), start, 25))]).toEqual([name, 'pruned'])
      expect([name, read(ledger.at(last), start, 25)]).toEqual([name, read(all, start, 25)])
    }
  }
})
