import { Buffer } from 'node:buffer'
import { ByteReader } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { restPage, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  accountTransactions,
  affectingTransactions,
  createLedger,
  eventsOfType,
  findTransaction,
  type LedgerState,
  streamEvents,
  transactionSummaries,
  wholeTransactionAt,
} from '@ledger-state/ledger'
import { readTransactionInfo } from '@ledger-state/proof'
import { readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { isWholeTransactionKey, RETAINED_KEY } from '@ledger-state/records'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import type { IngestOptions } from './ingest-options.js'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 120 })
const LAST = Number(chain.latestVersion)
const RETAINED = { keepTransactions: 'whole', retain: 20n, retainTransactions: 1_000_000n } as const

let bed: StoreBed
beforeEach(() => {
  bed = createStoreBed()
  writeBackup(chain, bed.at('backup'))
})
afterEach(() => bed.close())

async function ingest(engine: StateWriter, options: IngestOptions, location = 'backup'): Promise<void> {
  const source = await openSource(bed.at(location), { thread: false, unsigned: true })
  try {
    await ingestSource(engine, source, options)
  } finally {
    await source.close()
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

interface RareSender {
  readonly member: Uint8Array
  readonly last: number
  readonly pause: number
}

/** The sender that sent nothing for the longest time, and its first transaction after that. */
function rarestSender(): RareSender {
  const sent = new Map<string, number>()
  let rarest: RareSender = { member: new Uint8Array(0), last: 0, pause: 0 }
  for (const [version, { transaction }] of chain.records.entries()) {
    if (transaction[0] !== 0 || version > LAST - 10) continue
    const member = transaction.subarray(1, 33)
    const pause = version - (sent.get(hexOf(member)) ?? version)
    if (pause > rarest.pause) rarest = { member, last: version, pause }
    sent.set(hexOf(member), version)
  }
  expect(rarest.pause).toBeGreaterThan(24)
  return rarest
}

const newestOf = (engine: StateWriter): LedgerState => createLedger(engine).at()

/** Everything that can be asked of transactions, as texts. */
function allAnswers(state: LedgerState, last = LAST): unknown {
  const versions = Array.from({ length: last + 1 }, (_, version) => BigInt(version))
  const whole = versions.map((version) => {
    const found = wholeTransactionAt(state, version)
    return found && [hexOf(found.toBcs()), found.toJson()]
  })
  const hashes = chain.records.map(({ info }) => {
    return findTransaction(state, readTransactionInfo(new ByteReader(info)).transactionHash)?.version
  })
  const events = chain.records.flatMap(({ events }) => Array.from(readBcsList(new ByteReader(events), readEvent)))
  const senders = chain.records.flatMap(({ transaction }) =>
    transaction[0] === 0 ? [transaction.subarray(1, 33)] : [],
  )
  const addresses = chain.expected.flatMap(({ writes }) =>
    writes.flatMap(([key]) => (key[0] === 0 ? [key.subarray(1, 33)] : [])),
  )
  const lists = (['asc', 'desc'] as const).flatMap((order) => [
    ...once(events, ({ type }) => JSON.stringify(type)).map(({ type }) =>
      Array.from(eventsOfType(state, type, { order, limit: 1_000 }), (event) => hexOf(event!.bytes)),
    ),
    ...once(addresses, hexOf)
      .slice(0, 10)
      .map((address) =>
        Array.from(affectingTransactions(state, address, { order, limit: 1_000 }), (one) => one!.version),
      ),
  ])
  const sent = once(senders, hexOf).map((sender) => [
    Array.from(accountTransactions(state, sender, { start: 0n, limit: 100 }), ({ version }) => version),
    transactionSummaries(state, sender, { limit: 50 }).map(({ version, hash }) => [version, hexOf(hash)]),
    transactionSummaries(state, sender, { startVersion: 3n, limit: 50 }).map(({ version }) => version),
  ])
  const streams = once(
    events.flatMap(({ key }) => key ?? []),
    ({ address, creationNumber }) => `${hexOf(address)} ${creationNumber}`,
  ).map((stream) => [
    Array.from(streamEvents(state, stream, { limit: 25 }), (event) => event && hexOf(event.bytes)),
    Array.from(streamEvents(state, stream, { start: 1n, limit: 25 }), (event) => event && hexOf(event.bytes)),
  ])
  return { whole, hashes, lists, sent, streams }
}

function once<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [nameOf(item), item] as const)).values()]
}

describe('transactions that are retained longer than the state', () => {
  it('are answered as by a store that keeps everything, twice, and after a restart', async () => {
    const complete = createMemoryEngine()
    await ingest(complete, { keepTransactions: 'whole' })
    const expected = allAnswers(newestOf(complete))
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingest(engine, { ...RETAINED, to: 70n })
    await ingest(engine, RETAINED)
    expect(engine.ledger!.oldestVersion).toBeGreaterThan(BigInt(LAST - 60))
    for (let times = 0; times < 2; times++) expect(allAnswers(newestOf(engine))).toEqual(expected)
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
    const again = await bed.open('store', { memtableBytes: 0 })
    expect(allAnswers(newestOf(again))).toEqual(expected)
  })

  it('have the bytes of the network', async () => {
    const engine = createMemoryEngine()
    await ingest(engine, RETAINED)
    const state = newestOf(engine)
    for (let version = 0; version <= LAST; version++) {
      const found = wholeTransactionAt(state, BigInt(version))!
      expect(hexOf(found.toBcs())).toBe(hexOf(restPage(chain, version, 1).subarray(1)))
    }
  })

  it('begin with the first version that was ingested so; the transactions before it leave with the state', async () => {
    const engine = createMemoryEngine()
    await ingest(engine, { keepTransactions: 'whole', to: 100n })
    const first = Number(engine.ledger!.latestVersion) + 1
    await ingest(engine, { ...RETAINED, retain: 10n })
    const state = newestOf(engine)
    for (let version = 0; version <= LAST; version++) {
      expect(wholeTransactionAt(state, BigInt(version)) !== undefined, `version ${version}`).toBe(version >= first)
    }
    expect(state.transactions.oldestVersion).toBe(BigInt(first))
  })

  it('are deleted once they are older than they should be, with all of their keys', async () => {
    const engine = createMemoryEngine()
    const few = { ...RETAINED, retainTransactions: 60n }
    for (let to = 10n; to <= BigInt(LAST); to += 10n) await ingest(engine, { ...few, to })
    await ingest(engine, few)
    const state = newestOf(engine)
    const oldest = Number(state.transactions.oldestVersion)
    expect(oldest).toBeGreaterThan(0)
    expect(oldest).toBeLessThanOrEqual(LAST - 59)
    for (let version = 0; version <= LAST; version++) {
      const found = wholeTransactionAt(state, BigInt(version))
      expect(found !== undefined, `version ${version}`).toBe(version >= oldest)
    }
  })

  it('of a slice are known, although all earlier ones expire with the same commit', async () => {
    const { member, last, pause } = rarestSender()
    const only = { spec: { accounts: [member], tables: [], types: [] } }
    const few = { keepTransactions: 'whole', retain: 4n, retainTransactions: 12n } as const
    const engine = createMemoryEngine()
    await ingest(engine, { ...few, only, to: BigInt(last - pause) })
    expect(engine.at().get(RETAINED_KEY)).toBeDefined()
    for (const to of [last - 1, last, last + 6]) await ingest(engine, { ...few, to: BigInt(to) })
    const found = wholeTransactionAt(newestOf(engine), BigInt(last))
    expect(found && hexOf(found.toBcs())).toBe(hexOf(restPage(chain, last, 1).subarray(1)))
  })

  it('leave with the state once they are no longer asked for, with all of their keys', async () => {
    const engine = createMemoryEngine()
    await ingest(engine, { ...RETAINED, to: 60n })
    const rows = () => [0x27, 0x28].map((tag) => [...engine.at().scan(Uint8Array.of(0xfe, tag))].length)
    expect(rows().every((count) => count > 0)).toBe(true)
    for (let to = 70n; to <= BigInt(LAST); to += 10n) await ingest(engine, { retain: 20n, to })
    expect(rows()).toEqual([0, 0])
    const state = newestOf(engine)
    expect(state.transactions.oldestVersion).toBe(state.ledger.oldestVersion)
    expect(wholeTransactionAt(state, state.version)).toBeDefined()
  })

  it('are cut off with their versions, and come again', async () => {
    const engine = createMemoryEngine()
    const wide = { ...RETAINED, retain: 150n }
    await ingest(engine, wide)
    const expected = allAnswers(newestOf(engine))
    await engine.truncateTo(BigInt(LAST - 41))
    const cut = Number(engine.ledger!.latestVersion)
    const state = newestOf(engine)
    for (let version = 0; version <= LAST; version++) {
      expect(wholeTransactionAt(state, BigInt(version)) !== undefined, `version ${version}`).toBe(version <= cut)
    }
    await ingest(engine, wide)
    expect(allAnswers(newestOf(engine))).toEqual(expected)
  })

  it('are seen by a pinned state as they were', async () => {
    const engine = createMemoryEngine()
    await ingest(engine, { ...RETAINED, to: 90n })
    const pinned = newestOf(engine)
    const last = Number(pinned.version)
    const before = allAnswers(pinned, last)
    await ingest(engine, { ...RETAINED, retain: 1_000n })
    expect(
      allAnswers(newestOf(engine).version === pinned.version ? pinned : createLedger(engine).at(BigInt(last)), last),
    ).toEqual(before)
  })

  it('write only keys of their own families', async () => {
    const engine = createMemoryEngine()
    const plain = createMemoryEngine()
    await ingest(engine, { ...RETAINED, retain: undefined })
    await ingest(plain, {})
    const stateOf = (one: StateWriter) =>
      [...one.at().scan(new Uint8Array(0))].flatMap(({ key, value }) => {
        return isWholeTransactionKey(key) || (key[0] === 0xfe && key[1] === 4) ? [] : [hexOf(key) + hexOf(value)]
      })
    expect(stateOf(engine)).toEqual(stateOf(plain))
  })
})
