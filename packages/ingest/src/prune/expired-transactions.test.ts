import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { decodeRetained, RETAINED_KEY, versionOfKey } from '@ledger-state/records'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withShortPages } from '../../testing/short-pages.ts'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import { ingestSource } from '../commit/ingest-source.js'
import { expiredTransactions } from './expired-transactions.js'

const chain = new SyntheticChain({ blocks: 20 })
const LAST = chain.latestVersion

let bed: StoreBed
let engine: StateWriter
beforeEach(async () => {
  bed = createStoreBed()
  writeBackup(chain, bed.at('backup'))
  engine = createMemoryEngine()
  const retained = { keepTransactions: 'whole', retain: 5n, retainTransactions: 1_000n } as const
  for (const to of [15n, 30n, BigInt(LAST)]) {
    const source = await openSource(bed.at('backup'), { thread: false, unsigned: true })
    await ingestSource(engine, source, { ...retained, to })
    await source.close()
  }
})
afterEach(() => bed.close())

const held = () => engineToAsync(engine).snapshot()
const firstVersions = () =>
  [...engine.at().scan(RETAINED_KEY)].flatMap(({ key }) => (key.length > RETAINED_KEY.length ? versionOfKey(key) : []))

/** The snapshot of a store whose scans have at most one row a page, as if each row were very long. */
const heldInShortPages = async () => withShortPages(await held())

describe('expired transactions', () => {
  it('leave the record of retained ones, if none is left and later ones will be retained', async () => {
    const end = BigInt(LAST) + 1n
    const count = firstVersions().length
    expect(count).toBeGreaterThan(1)
    for (const [areRetained, record] of [
      [true, end],
      [false, undefined],
    ] as const) {
      const writes = await expiredTransactions(await held(), end, areRetained)
      const [key, value] = writes.at(-1)!
      expect(key).toEqual(RETAINED_KEY)
      expect(value ? decodeRetained(value).oldestVersion : undefined).toBe(record)
      expect(
        writes.filter(([one, value]) => value === null && one[1] === RETAINED_KEY[1] && one.length > 2),
      ).toHaveLength(count)
    }
  })

  it('are deleted one by one, if each is a page of its own', async () => {
    const [first, second] = firstVersions()
    const writes = await expiredTransactions(await heldInShortPages(), BigInt(LAST) + 1n, true)
    const blocks = writes.filter(([key]) => key[1] === RETAINED_KEY[1] && key.length > RETAINED_KEY.length)
    expect(blocks.map(([key, value]) => [versionOfKey(key), value])).toEqual([[first, null]])
    expect(decodeRetained(writes.at(-1)![1]!).oldestVersion).toBe(second)
    expect(await expiredTransactions(await heldInShortPages(), second! - 1n, true)).toEqual([
      [RETAINED_KEY, expect.anything()],
    ])
  })
})
