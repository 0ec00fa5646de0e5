import { parseAddress } from '@ledger-state/core'
import { type AsyncState, type AsyncStateSnapshot, type AsyncStateView, engineToAsync } from '@ledger-state/engine'
import { overriding } from '@ledger-state/testing/overriding'
import { tableItemKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { readRawTableItem } from '../index.js'
import type { Ledger } from '../state/ledger.js'
import { createAsyncLedger } from './async-ledger.js'
import { LoadBudget } from './load-budget.js'

const MIB = 1 << 20
const HANDLE = parseAddress('0x7ab1e')
const ITEMS = 60

/** A ledger of items of half a MiB each, whose loads are counted. */
async function largeItems() {
  const value = new Uint8Array(MIB / 2)
  const keys = Array.from({ length: ITEMS }, (_, at) => Uint8Array.of(at))
  const engine = await engineOf(keys.map((key) => [tableItemKey(HANDLE, key), value]))
  const counts = { bytes: 0, rounds: 0 }
  const counted = (view: AsyncStateView): AsyncStateView =>
    overriding(view, {
      load: async (asked: readonly Uint8Array[]) => {
        counts.rounds++
        const entries = await view.load(asked)
        for (const entry of entries) counts.bytes += entry?.value.length ?? 0
        return entries
      },
    })
  const snapshotOf = (snapshot: AsyncStateSnapshot): AsyncStateSnapshot =>
    overriding(snapshot, { at: (version?: bigint) => counted(snapshot.at(version)) })
  const promising = engineToAsync(engine)
  const state: AsyncState = overriding<AsyncState>(promising, {
    snapshot: async () => snapshotOf(await promising.snapshot()),
  })
  return { state, keys, counts }
}

/** Reads many keys as a batch does: only an item that is absent fails. */
function lengthsOf(ledger: Ledger, keys: readonly Uint8Array[]): (number | undefined)[] {
  return keys.map((key) => {
    try {
      return readRawTableItem(ledger.at(), HANDLE, key).length
    } catch {
      return undefined
    }
  })
}

describe('a read of many large values', () => {
  it('is refused before more is loaded than it may and a few values', async () => {
    const { state, keys, counts } = await largeItems()
    const ledger = createAsyncLedger(state, { maxLoadedBytes: 8 * MIB })
    const read = ledger.read((one) => lengthsOf(one, keys))
    await expect(read).rejects.toMatchObject({ code: 'read_too_large' })
    expect(counts.bytes).toBeLessThanOrEqual(16 * MIB)
  })

  it('takes as many rounds as it needs if all of it may be loaded', async () => {
    const { state, keys, counts } = await largeItems()
    const ledger = createAsyncLedger(state, { maxLoadedBytes: 40 * MIB })
    // The first read of a ledger also asks whether the store keeps a slice.
    await ledger.read((one) => one.at().version)
    counts.rounds = 0
    const lengths = await ledger.read((one) => lengthsOf(one, keys))
    expect(lengths).toEqual(keys.map(() => MIB / 2))
    expect(counts.rounds).toBe(2)
  })
})

describe('LoadBudget', () => {
  it('lets no more be asked for at once than would fit', async () => {
    const budget = new LoadBudget(20 * MIB)
    let asked = 0
    let most = 0
    const ask = async () => {
      most = Math.max(most, ++asked)
      await new Promise((resolve) => setImmediate(resolve))
      asked--
    }
    await Promise.all(Array.from({ length: 50 }, () => budget.values(1, ask)))
    expect(most).toBe(20)
    most = 0
    await Promise.all(Array.from({ length: 12 }, () => budget.page(ask)))
    expect(most).toBe(5)
  })

  it('lets nothing be asked for once it is spent, and leaves nobody waiting', async () => {
    const budget = new LoadBudget(2 * MIB)
    let asked = 0
    const reads = Array.from({ length: 10 }, () =>
      budget.values(budget.valuesAtOnce, async () => {
        asked++
        budget.spend(3 * MIB)
      }),
    )
    const outcomes = await Promise.allSettled(reads)
    expect(outcomes.map(({ status }) => status)).toEqual(new Array(10).fill('rejected'))
    expect(asked).toBe(1)
  })
})
