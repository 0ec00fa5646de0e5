import { writeFileSync } from 'node:fs'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { expectedTransaction } from '@ledger-state/feed/testing/expected-transaction'
import { startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { bytesToTransaction, isHoldingsKey, isOwnKey, TRANSACTIONS_KEY, transactionKey } from '@ledger-state/records'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { feedOfStore } from '../../testing/feed-of-store.ts'
import { listedBlocks, listedSource } from '../../testing/listed-source.ts'
import { contentOf, createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import type { IngestOptions } from './ingest-options.js'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)

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

/** The transactions that a store has for its versions since one of them. */
function keptFrom(engine: StateWriter, first: number) {
  return Array.from({ length: LAST + 1 - first }, (_, at) => {
    const version = BigInt(first + at)
    const entry = engine.at(version).getEntry(transactionKey(version))
    return entry?.version === version ? bytesToTransaction(entry.value) : undefined
  })
}

/** The transactions that the chain has for them; undefined for versions that write nothing. */
function expectedFrom(first: number) {
  return Array.from({ length: LAST + 1 - first }, (_, at) =>
    chain.expected[first + at]!.writes.length > 0 ? expectedTransaction(chain, first + at) : undefined,
  )
}

const sinceOf = (engine: StateWriter) => engine.at().getEntry(TRANSACTIONS_KEY)?.version

describe('transactions', () => {
  it('are not kept if none are to be kept', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), { keepTransactions: 'none' })
    expect(keptFrom(engine, 0)).toEqual(expectedFrom(0).map(() => undefined))
    expect(sinceOf(engine)).toBeUndefined()
  })

  it.each(['V0', 'V1'] as const)(
    'of a backup in the format %s are kept with each version that writes',
    async (format) => {
      writeBackup(chain, bed.at('backup'), { format })
      const engine = await bed.open('store', { memtableBytes: 0 })
      await ingest(engine, bed.at('backup'), { keepTransactions: 'summary' })
      expect(keptFrom(engine, 0)).toEqual(expectedFrom(0))
      expect(sinceOf(engine)).toBe(0n)
      expect((await engine.check()).problems).toEqual([])
      expect(notices.filter((text) => text.includes('transaction'))).toEqual([])
    },
  )

  it('continue without being asked, from another source, and leave with the window', async () => {
    writeBackup(chain, bed.at('backup'))
    const node = await startStandInNode(chain)
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingest(engine, bed.at('backup'), { keepTransactions: 'summary', to: 50n })
    await ingest(engine, node.url)
    await node.close()
    expect(keptFrom(engine, 0)).toEqual(expectedFrom(0))
    await engine.prune(60n)
    const oldest = Number(engine.ledger!.oldestVersion)
    expect(keptFrom(engine, oldest)).toEqual(expectedFrom(oldest))
    expect([...engine.history(transactionKey(BigInt(oldest)))].length).toBeLessThan(4)
    expect(sinceOf(engine)).toBe(0n)
  })

  it('that are asked for later are known since then', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = createMemoryEngine()
    await ingest(engine, bed.at('backup'), { keepTransactions: 'none', to: 60n })
    await ingest(engine, bed.at('backup'), { keepTransactions: 'summary' })
    const since = chain.expected.findIndex(({ writes }, version) => version > 60 && writes.length > 0)
    expect(sinceOf(engine)).toBe(BigInt(since))
    expect(keptFrom(engine, since)).toEqual(expectedFrom(since))
    expect(keptFrom(engine, 0).slice(0, since)).toEqual(Array.from({ length: since }, () => undefined))
    expect(notices).toContain(
      `transactions are known since version ${since}; transactions of earlier versions are unknown`,
    )
  })

  it('end if the source does not carry them, and are not taken for known then', async () => {
    const blocks = listedBlocks([1, 1, 1])
    const carrying = blocks.map((block, at) => ({ ...block, readTransaction: () => expectedTransaction(chain, at) }))
    const engine = createMemoryEngine()
    const options = { keepTransactions: 'summary' as const, onNotice: (text: string) => notices.push(text) }
    await ingestSource(engine, listedSource(carrying.slice(0, 2)), options)
    expect(sinceOf(engine)).toBe(0n)
    await ingestSource(engine, listedSource(blocks), options)
    expect(sinceOf(engine)).toBeUndefined()
    expect(engine.at(1n).get(TRANSACTIONS_KEY)).toEqual(new Uint8Array(0))
    expect(notices).toEqual(['transactions are unknown since version 2: the source does not contain them'])
    await ingestSource(createMemoryEngine(), listedSource(blocks), options)
    expect(notices.slice(1)).toEqual(['the store keeps no transactions: the source does not contain them'])
  })

  it('come with a feed of a store that keeps them, asked for or not', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = await bed.open('store')
    await ingest(engine, bed.at('backup'), { keepTransactions: 'summary' })
    const base = 40n
    writeFileSync(bed.at('feed'), feedOfStore(engine, base, LAST))
    for (const keepTransactions of ['summary', 'none'] as const) {
      const copy = await bed.open(`copy ${keepTransactions}`)
      await ingest(copy, bed.at('feed'), { keepTransactions })
      expect(sinceOf(copy)).toBe(0n)
      expect(keptFrom(copy, 41)).toEqual(expectedFrom(41))
      expect(contentOf(copy)!.versions).toEqual(contentOf(engine)!.versions.slice(41 - 1))
    }
    expect(notices).toEqual([])
  })

  it('are cut off with their versions', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingest(engine, bed.at('backup'), { keepTransactions: 'none', to: 60n })
    await ingest(engine, bed.at('backup'), { keepTransactions: 'summary' })
    await engine.truncateTo(60n)
    expect(sinceOf(engine)).toBeUndefined()
    const own = [...engine.at().scan(new Uint8Array(0))].filter(({ key }) => isOwnKey(key) && !isHoldingsKey(key))
    expect(own.map(({ key }) => key.length)).toEqual([2])
  })
})
