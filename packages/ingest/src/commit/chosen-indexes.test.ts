import { ByteReader } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  accountTransactions,
  affectingTransactions,
  createLedger,
  eventsOfType,
  findTransaction,
  streamEvents,
  transactionSummaries,
} from '@ledger-state/ledger'
import { DEFAULT_HASH_SALT, LedgerHasher } from '@ledger-state/proof'
import { readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { KEY_FAMILIES, readSent, TRANSACTION_INDEXES, type TransactionIndex } from '@ledger-state/records'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import type { IngestOptions } from './ingest-options.js'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 30 })
const sender = chain.records.flatMap(({ transaction }) => readSent(transaction)?.sender ?? [])[0]!
const events = chain.records.flatMap((one) => [...readBcsList(new ByteReader(one.events), readEvent)])
const stream = events.find(({ key }) => key)!.key!
const type = events[0]!.type
const MIDDLE = chain.latestVersion / 2n

const ALL_BUT_ONE = TRANSACTION_INDEXES.map((left) => TRANSACTION_INDEXES.filter((index) => index !== left))
const CHOICES: readonly { readonly chosen: readonly TransactionIndex[] }[] = [
  { chosen: [] },
  ...TRANSACTION_INDEXES.map((index) => ({ chosen: [index] })),
  ...ALL_BUT_ONE.map((chosen) => ({ chosen })),
]

/** What a store finds by each index. */
const FINDS: Readonly<Record<TransactionIndex, (engine: StateWriter) => unknown>> = {
  hash: (engine) => {
    const state = createLedger(engine).at()
    const hasher = new LedgerHasher(DEFAULT_HASH_SALT)
    return chain.records.map(
      ({ transaction }) => findTransaction(state, hasher.hash('Transaction', transaction))!.version,
    )
  },
  sender: (engine) => {
    const state = createLedger(engine).at()
    const listed = Array.from(accountTransactions(state, sender, { start: 0n, limit: 100 }), ({ version }) => version)
    return [listed, transactionSummaries(state, sender, { startVersion: 0n, limit: 100 }).map(({ version }) => version)]
  },
  affected: (engine) => {
    const page = affectingTransactions(createLedger(engine).at(), sender, { order: 'asc', limit: 100 })
    return Array.from(page, (one) => one?.version)
  },
  'event-key': (engine) => {
    const { address, creationNumber } = stream
    const found = streamEvents(createLedger(engine).at(), { address, creationNumber }, { start: 0n, limit: 100 })
    return Array.from(found, (one) => one?.version)
  },
  'event-type': (engine) =>
    Array.from(eventsOfType(createLedger(engine).at(), type, { order: 'asc', limit: 100 }), (one) => one?.version),
}

/** Families of keys that only an index has. */
const FAMILIES: Readonly<Record<TransactionIndex, readonly (keyof typeof KEY_FAMILIES)[]>> = {
  hash: ['transactionHash'],
  sender: ['sequenceNumber', 'nonce'],
  affected: ['affectedAccount'],
  'event-key': ['eventStream'],
  'event-type': ['eventType'],
}

let bed: StoreBed
beforeEach(() => {
  bed = createStoreBed()
  writeBackup(chain, bed.at('backup'))
})
afterEach(() => bed.close())

async function ingest(engine: StateWriter, options: IngestOptions): Promise<StateWriter> {
  const source = await openSource(bed.at('backup'), { thread: false, unsigned: true })
  try {
    await ingestSource(engine, source, { keepTransactions: 'whole', ...options })
  } finally {
    await source.close()
  }
  return engine
}

function rowsOf(engine: StateWriter, index: TransactionIndex): number {
  return FAMILIES[index].reduce((sum, family) => {
    const { prefix } = KEY_FAMILIES[family]
    return sum + [...engine.at().scan(prefix)].length
  }, 0)
}

describe('chosen indexes of transactions', () => {
  it.each(CHOICES)('$chosen are kept by a store, over restarts, and no other', async ({ chosen }) => {
    const whole = await ingest(createMemoryEngine(), {})
    const engine = await ingest(createMemoryEngine(), { transactionIndexes: chosen, to: MIDDLE })
    await ingest(engine, {})
    expect(engine.ledger!.latestVersion).toBe(whole.ledger!.latestVersion)
    for (const index of TRANSACTION_INDEXES) {
      expect(rowsOf(whole, index)).toBeGreaterThan(0)
      if (chosen.includes(index)) {
        expect(rowsOf(engine, index)).toBe(rowsOf(whole, index))
        expect(FINDS[index](engine)).toEqual(FINDS[index](whole))
      } else {
        expect(rowsOf(engine, index)).toBe(0)
        expect(() => FINDS[index](engine)).toThrow(expect.objectContaining({ code: 'transactions_not_indexed' }))
      }
    }
  })

  it('cannot be changed in a store that has whole transactions', async () => {
    const engine = await ingest(createMemoryEngine(), { transactionIndexes: ['hash'], to: MIDDLE })
    await expect(ingest(engine, { transactionIndexes: ['hash', 'sender'] })).rejects.toMatchObject({
      code: 'invalid_argument',
      message:
        'the store has these indexes of transactions: hash; it keeps them, so ingest into another store to have others',
    })
    await ingest(engine, { transactionIndexes: ['hash'] })
    expect(engine.ledger!.latestVersion).toBe(chain.latestVersion)
  })

  it('are not for a range, whose stores are joined', async () => {
    const filling = ingest(createMemoryEngine(), { range: { from: 0n, to: MIDDLE }, transactionIndexes: ['hash'] })
    await expect(filling).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})
