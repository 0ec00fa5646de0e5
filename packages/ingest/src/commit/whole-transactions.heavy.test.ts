import { Buffer } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { ByteReader, parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { feedHeaderLine, openSource, type SourceOptions, versionToFeedLine } from '@ledger-state/feed'
import { startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { restPage, SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  accountTransactions,
  createLedger,
  findTransaction,
  hasWholeTransactions,
  streamEvents,
  wholeTransactionAt,
} from '@ledger-state/ledger'
import { readTransactionInfo } from '@ledger-state/proof'
import { readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { TRANSACTIONS_KEY, WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { sliceDigest } from '@ledger-state/slices'
import { overriding } from '@ledger-state/testing/overriding'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { feedOfStore } from '../../testing/feed-of-store.ts'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import type { IngestOptions } from './ingest-options.js'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)
const WHOLE = { keepTransactions: 'whole' } as const

let bed: StoreBed
let notices: string[]
beforeEach(() => {
  bed = createStoreBed()
  notices = []
})
afterEach(() => bed.close())

async function ingest(engine: StateWriter, location: string, options: IngestOptions & SourceOptions = {}) {
  const source = await openSource(location, { thread: false, unsigned: true, ...options })
  try {
    await ingestSource(engine, source, { onNotice: (text) => notices.push(text), ...options })
  } finally {
    await source.close()
  }
}

/** A transaction of the chain as a node answers it in BCS. */
function expectedBcs(version: number): string {
  return Buffer.from(restPage(chain, version, 1).subarray(1)).toString('hex')
}

function firstAddressOf({ writes }: (typeof chain.expected)[number]): Uint8Array {
  return Uint8Array.from(writes.find(([key]) => key[0] === 0)![0].subarray(1, 33))
}

/** Two members of a slice, and which versions it keeps: they sent them, these changed them, or have their events. */
function members() {
  const senders = chain.records.flatMap(({ transaction }) => {
    return transaction[0] === 0 ? [Buffer.from(transaction.subarray(1, 33)).toString('hex')] : []
  })
  const asked = [parseAddress(senders[0]!), firstAddressOf(chain.expected[chain.expected.length - 4]!)]
  const isMember = (address: Uint8Array) => asked.some((one) => Buffer.compare(one, address) === 0)
  const isKept = (version: number): boolean => {
    const { transaction, events } = chain.records[version]!
    if (transaction[0] === 0 && isMember(transaction.subarray(1, 33))) return true
    const streams = readBcsList(new ByteReader(events), readEvent)
    if ([...streams].some(({ key }) => key && isMember(key.address))) return true
    return chain.expected[version]!.writes.some(([key]) => key[0] === 0 && isMember(key.subarray(1, 33)))
  }
  return { asked, isKept }
}

/** A feed of the versions of a store up to one of them, from 0 or after a state. */
function feedOf(engine: StateWriter, last = LAST, base?: bigint): string {
  if (base !== undefined) return feedOfStore(engine, base, last)
  const { block } = engine.blockAt(0n)
  const begun = [...engine.at(0n).scan(new Uint8Array(0))].map(({ key, value }) => [key, value] as const)
  const versions = [{ version: 0n, block, writes: begun }, ...engine.versions(1n, BigInt(last))]
  const lines = [feedHeaderLine({ chainId: SYNTHETIC_CHAIN_ID }), ...versions.map(versionToFeedLine)]
  return `${lines.join('\n')}\n`
}

/** Checks every version, twice, and the index of hashes. */
function expectWhole(engine: StateWriter, first = 0, last = LAST): void {
  const state = createLedger(engine).at()
  for (let times = 0; times < 2; times++) {
    for (let version = 0; version <= LAST; version++) {
      const found = wholeTransactionAt(state, BigInt(version))
      const isThere = version >= first && version <= last
      expect(found ? Buffer.from(found.toBcs()).toString('hex') : undefined, `version ${version}`).toBe(
        isThere ? expectedBcs(version) : undefined,
      )
      const { transactionHash } = readTransactionInfo(new ByteReader(chain.records[version]!.info))
      expect(findTransaction(state, transactionHash)?.version).toBe(isThere ? BigInt(version) : undefined)
    }
  }
  expect(findTransaction(state, new Uint8Array(32))).toBeUndefined()
}

describe('whole transactions', () => {
  it.each(['V0', 'V1'] as const)('of a backup in the format %s are kept with each version', async (format) => {
    writeBackup(chain, bed.at('backup'), { format })
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingest(engine, bed.at('backup'), WHOLE)
    expectWhole(engine)
    expect((await engine.check()).problems).toEqual([])
    expect(notices.filter((text) => text.includes('transaction'))).toEqual([])
  })

  it('of a node are kept', async () => {
    const node = await startStandInNode(chain)
    try {
      const engine = createMemoryEngine()
      await ingest(engine, node.url, WHOLE)
      expectWhole(engine)
    } finally {
      await node.close()
    }
  })

  it('continue without being asked, even after a restart, and leave with the window', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingest(engine, bed.at('backup'), { ...WHOLE, to: 50n })
    await engine.close()
    const again = await bed.open('store', { memtableBytes: 0 })
    await ingest(again, bed.at('backup'))
    expectWhole(again)
    await again.prune(40n)
    expectWhole(again, Number(again.ledger!.oldestVersion))
    expect((await again.check()).problems).toEqual([])
  })

  it('are cut off with their versions, and come again', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingest(engine, bed.at('backup'), WHOLE)
    await engine.truncateTo(70n)
    const cut = Number(engine.ledger!.latestVersion)
    expectWhole(engine, 0, cut)
    await ingest(engine, bed.at('backup'))
    expectWhole(engine)
  })

  it('that were cut off in the middle of a group stay away, if the next versions come without them', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), WHOLE)
    await engine.truncateTo(70n)
    const cut = Number(engine.ledger!.latestVersion)
    await ingest(engine, bed.at('backup'), { verify: false })
    expectWhole(engine, 0, cut)
  })

  it('come with a feed of a store that keeps them, asked for or not', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), WHOLE)
    const base = 40n
    writeFileSync(bed.at('feed'), feedOfStore(engine, base, LAST))
    for (const keepTransactions of ['none', 'summary', 'whole'] as const) {
      const copy = createMemoryEngine()
      await ingest(copy, bed.at('feed'), { keepTransactions })
      expectWhole(copy, Number(base))
    }
  })

  it('are kept by default since the first version of a new store, but not by one that began without them', async () => {
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: 40, chunk: 15 } })
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), { to: 50n })
    await ingest(engine, bed.at('backup'))
    expectWhole(engine)
    const onState = createMemoryEngine()
    await ingest(onState, snapshot)
    await ingest(onState, bed.at('backup'))
    expectWhole(onState, 41)
    const without = createMemoryEngine()
    await ingest(without, bed.at('backup'), { keepTransactions: 'none', to: 50n })
    await ingest(without, bed.at('backup'))
    expect(hasWholeTransactions(createLedger(without).at())).toBe(false)
    expect(without.at().get(TRANSACTIONS_KEY)).toBeUndefined()
    // Nobody asked for the transactions, which an unverified backup does not give.
    await ingest(createMemoryEngine(), bed.at('backup'), { verify: false })
    expect(notices.filter((text) => text.includes('transaction'))).toEqual([])
  })

  it('are pruned below the state with which a store began: lists by number say so', async () => {
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: 40, chunk: 15 } })
    const onState = createMemoryEngine()
    await ingest(onState, snapshot)
    await ingest(onState, bed.at('backup'))
    expect(onState.ledger!.oldestVersion).toBe(40n)
    const state = createLedger(onState).at()
    const later = chain.records.findIndex(({ transaction }, version) => version > 40 && transaction[0] === 0)
    const sender = Uint8Array.from(chain.records[later]!.transaction.subarray(1, 33))
    const number = Buffer.from(chain.records[later]!.transaction).readBigUInt64LE(33)
    const list = (start: bigint) =>
      Array.from(accountTransactions(state, sender, { start, limit: 25 }), (one) => one.version)
    for (const start of [0n, number - 1n]) {
      const expected = { code: 'version_pruned', fields: { version: 40n, oldestVersion: 41n } }
      expect(() => list(start)).toThrow(expect.objectContaining(expected))
    }
    expect(list(number)[0]).toBe(BigInt(later))
    const streams = chain.records.flatMap(({ events }) => {
      return Array.from(readBcsList(new ByteReader(events), readEvent), ({ key }) => key ?? [])
    })
    let cut = 0
    for (const stream of streams.flat()) {
      const [first] = [...streamEvents(state, stream, { limit: 1_000 })]
      const number = first?.event.key?.sequenceNumber ?? 0n
      if (number === 0n) continue
      cut++
      expect([...streamEvents(state, stream, { start: number, limit: 1 })]).toHaveLength(1)
      expect(() => [...streamEvents(state, stream, { start: 0n, limit: 1 })]).toThrow('is not kept')
    }
    expect(cut).toBeGreaterThan(0)
  })

  it('are not kept if less is to be kept, or without proofs', async () => {
    writeBackup(chain, bed.at('backup'))
    for (const options of [
      { keepTransactions: 'none' },
      { keepTransactions: 'summary' },
      { ...WHOLE, verify: false },
    ] as const) {
      const engine = createMemoryEngine()
      await ingest(engine, bed.at('backup'), options)
      expect(hasWholeTransactions(createLedger(engine).at())).toBe(false)
    }
    expect(notices).toContain('the store keeps no whole transactions: the source does not contain or prove them')
  })

  it('are known to end with a source without them, and to begin again', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), { ...WHOLE, to: 50n })
    const first = Number(engine.ledger!.latestVersion) + 1
    await ingest(engine, bed.at('backup'), { verify: false, to: 80n })
    const middle = Number(engine.ledger!.latestVersion) + 1
    expect(engine.at().get(WHOLE_TRANSACTIONS_KEY)).toBeUndefined()
    await ingest(engine, bed.at('backup'), WHOLE)
    const state = createLedger(engine).at()
    for (let version = 0; version <= LAST; version++) {
      const isThere = version < first || version >= middle
      expect(wholeTransactionAt(state, BigInt(version)) !== undefined, `version ${version}`).toBe(isThere)
    }
  })

  it('are kept by a slice if a member sent them or they changed one, even after a restart and a truncation', async () => {
    writeBackup(chain, bed.at('backup'))
    const { asked, isKept } = members()
    const only = { spec: { accounts: asked, tables: [], types: [] } }
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingest(engine, bed.at('backup'), { ...WHOLE, only, to: 33n } as IngestOptions)
    await ingest(engine, bed.at('backup'), { to: 90n })
    await engine.truncateTo(70n)
    await ingest(engine, bed.at('backup'))
    const state = createLedger(engine).at()
    let kept = 0
    for (let version = 0; version <= LAST; version++) {
      const found = wholeTransactionAt(state, BigInt(version))
      expect(found ? Buffer.from(found.toBcs()).toString('hex') : undefined, `version ${version}`).toBe(
        isKept(version) ? expectedBcs(version) : undefined,
      )
      if (isKept(version)) kept++
    }
    expect(kept).toBeGreaterThan(0)
    expect(kept).toBeLessThan(LAST)
    expect((await engine.check()).problems).toEqual([])
    expect(notices.filter((text) => text.includes('whole'))).toEqual([])
  })

  it('are kept by a slice of another store, whatever commits either of them has', async () => {
    writeBackup(chain, bed.at('backup'))
    const { asked, isKept } = members()
    const options = { ...WHOLE, only: { spec: { accounts: asked, tables: [], types: [] } } } as const
    const retained = { ...WHOLE, retainTransactions: 1_000n } as const
    for (const ofSource of [WHOLE, retained]) {
      const source = createMemoryEngine()
      for (const to of [20n, 61n, BigInt(LAST)]) await ingest(source, bed.at('backup'), { ...ofSource, to })
      const slice = createMemoryEngine()
      for (const last of [LAST / 3 - 1, LAST]) {
        writeFileSync(bed.at('feed'), feedOf(source, last))
        await ingest(slice, bed.at('feed'), options)
      }
      const ofSlice = createLedger(slice).at()
      for (let version = 0; version <= LAST; version++) {
        const found = wholeTransactionAt(ofSlice, BigInt(version))
        const expected = isKept(version) ? expectedBcs(version) : undefined
        expect(found ? Buffer.from(found.toBcs()).toString('hex') : undefined, `version ${version}`).toBe(expected)
      }
    }
  })

  it('are kept by a slice that resumes within a block of another store since the next one, asked for or not', async () => {
    writeBackup(chain, bed.at('backup'))
    const { asked, isKept } = members()
    const source = createMemoryEngine()
    for (const to of [20n, 61n, BigInt(LAST)]) await ingest(source, bed.at('backup'), { to })
    const slice = createMemoryEngine()
    const only = { spec: { accounts: asked, tables: [], types: [] } }
    for (const last of [30, 63, 65, LAST]) {
      writeFileSync(bed.at('feed'), feedOf(source, last))
      await ingest(slice, bed.at('feed'), last === 30 ? { only } : {})
    }
    const state = createLedger(slice).at()
    // The blocks of the source begin at 0, 21, 62 and 128.
    const unread = (version: number) => (version > 30 && version < 62) || (version > 63 && version < 128)
    for (let version = 0; version <= LAST; version++) {
      const found = wholeTransactionAt(state, BigInt(version))
      const expected = isKept(version) && !unread(version) ? expectedBcs(version) : undefined
      expect(found ? Buffer.from(found.toBcs()).toString('hex') : undefined, `version ${version}`).toBe(expected)
    }
    expect(notices).toEqual([])
    const begun = [...slice.history(WHOLE_TRANSACTIONS_KEY, { order: 'asc' })]
    expect(begun.map(({ version, value }) => [version, value?.length !== 0])).toEqual([
      [0n, true],
      [31n, false],
      [62n, true],
      [64n, false],
      [128n, true],
    ])
  })

  it('of a slice are the same in a copy of the slice from its feed', async () => {
    writeBackup(chain, bed.at('backup'))
    const { asked, isKept } = members()
    const only = { spec: { accounts: asked, tables: [], types: [] } }
    const slice = createMemoryEngine()
    for (const to of [20n, 61n, BigInt(LAST)]) await ingest(slice, bed.at('backup'), { only, to })
    writeFileSync(bed.at('feed'), feedOf(slice))
    const copy = createMemoryEngine()
    await ingest(copy, bed.at('feed'))
    const expectCopied = (engine: StateWriter, first: number) => {
      const ofCopy = createLedger(engine).at()
      for (let version = first; version <= LAST; version++) {
        const found = wholeTransactionAt(ofCopy, BigInt(version))
        const expected = isKept(version) ? expectedBcs(version) : undefined
        expect(found ? Buffer.from(found.toBcs()).toString('hex') : undefined, `version ${version}`).toBe(expected)
      }
      const rowsOf = (one: StateWriter) => [...one.at().scan(Uint8Array.of(0xfe))].map(({ key, value }) => [key, value])
      expect(rowsOf(engine)).toEqual(rowsOf(slice))
    }
    expectCopied(copy, 0)
    // A replica begins with a state of the slice, and is started again.
    const replica = createMemoryEngine()
    for (const last of [50, 63, LAST]) {
      writeFileSync(bed.at('feed'), feedOf(slice, last, 40n))
      const source = await openSource(bed.at('feed'), { thread: false })
      const live = overriding(source, { slice: sliceDigest(only.spec) })
      await ingestSource(replica, live, { onNotice: (text) => notices.push(text) })
      await source.close()
    }
    expectCopied(replica, 41)
    expect(notices).toEqual([])
  })
})
