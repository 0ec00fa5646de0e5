import { parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger, listHolders, parseAsset, rawTableItemHistory } from '@ledger-state/ledger'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import { ASSETS, randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import { createRandom } from '@ledger-state/testing/random'
import { tableItemKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import type { LedgerReader } from '../stores/ledger-reader.js'
import { readList } from './get-holdings.js'
import { readAskedRange, readPages } from './history-pages.js'

const TABLE = parseAddress('0x7')
const KEY = Uint8Array.of(1)
const LATEST = 699n
const CUT = 50n

/** A store that the function changes between two pages: it cuts versions off, and others take their place. */
async function storeOf(versions: readonly (readonly Write[])[]) {
  const engine = createMemoryEngine()
  const commit = (version: bigint, writes: readonly Write[]) =>
    engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: version }, writes }], { chainId: 4 })
  for (const [at, writes] of versions.entries()) await commit(BigInt(at), writes)
  const ledger = createLedger(engine)
  const store: LedgerReader = { read: async (run) => run(ledger), close: async () => {} }
  return {
    store,
    async reorganize(left: bigint) {
      await engine.truncateTo(left)
      for (let version = left + 1n; version <= LATEST; version++) await commit(version, [])
    },
  }
}

describe('a command that reads page by page', () => {
  it.each(['asc', 'desc'] as const)('ends once its history was cut off, in the order %s', async (order) => {
    const values = Array.from({ length: Number(LATEST) + 1 }, (_, at): Write[] => [
      [tableItemKey(TABLE, KEY), Uint8Array.of(at % 256, at >> 8)],
    ])
    const { store, reorganize } = await storeOf(values)
    const asked = await readAskedRange(store, { from: undefined, to: undefined }, () => true)
    const pages = readPages(
      store,
      asked,
      (state, page) => rawTableItemHistory(state, TABLE, KEY, { order, ...page }),
      ({ version }) => ({ version, timestampUsec: undefined }),
    )
    expect((await pages.next()).value).toHaveLength(256)
    await reorganize(LATEST)
    expect((await pages.next()).value).toHaveLength(256)
    await reorganize(CUT)
    await expect(pages.next()).rejects.toMatchObject({ code: 'version_truncated' })
  })

  it('ends once the state of its list was cut off', async () => {
    const { versions } = randomHoldings(createRandom(7), Number(LATEST) + 1, 6_000)
    const { store, reorganize } = await storeOf(withHoldings(versions).map(({ writes }) => writes))
    const pages = readList(
      store,
      () => undefined,
      (state, page) => listHolders(state, parseAsset(ASSETS[0]!), page),
    )
    expect((await pages.next()).value).toHaveLength(1_000)
    await reorganize(CUT)
    await expect(pages.next()).rejects.toMatchObject({ code: 'version_truncated' })
  })
})
