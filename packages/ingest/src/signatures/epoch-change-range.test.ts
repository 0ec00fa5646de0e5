import { ByteReader, type Write } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { madeEndings, signedLedgerInfo } from '@ledger-state/feed/testing/synthetic-epochs'
import { readLedgerInfo } from '@ledger-state/proof'
import { epochEndingKey } from '@ledger-state/records'
import { packEnding } from '@ledger-state/records/epoch-change'
import { describe, expect, it } from 'vitest'
import { readEpochChangeRange } from './epoch-change-range.js'

const endings = madeEndings(80).map(signedLedgerInfo)
const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
const ALL = { lastEpoch: 79n, maxBytes: 1e9 }

/** A store that keeps the epoch changes since an epoch. */
async function storeFrom(first: number) {
  const engine = createMemoryEngine()
  const writes = endings.slice(first).map((bytes, at): Write => {
    const epoch = BigInt(first + at)
    return [epochEndingKey(epoch), packEnding(epoch, bytes, at > 0 ? endings[first + at - 1] : undefined).packed]
  })
  await engine.commit([{ version: 0n, block, writes }], { chainId: 1 })
  return engine
}

const epochsOf = (found: readonly Uint8Array[] | undefined) =>
  found?.map((bytes) => Number(readLedgerInfo(new ByteReader(bytes)).epoch))
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

describe.each([0, 5, 31, 33])('readEpochChangeRange of a store since epoch %i', (first) => {
  it('reads from the epoch that ends at a version to the last one that is wanted', async () => {
    const engine = await storeFrom(first)
    for (const from of [first, first + 1, 40, 64, 79]) {
      const version = BigInt(from) * 10n
      expect(epochsOf(await readEpochChangeRange(engine, { ...ALL, version }))).toEqual(range(from, 79))
      expect(epochsOf(await readEpochChangeRange(engineToAsync(engine), { ...ALL, version, lastEpoch: 79n }))).toEqual(
        range(from, 79),
      )
    }
    expect(epochsOf(await readEpochChangeRange(engine, { ...ALL, version: undefined }))).toEqual(range(first, 79))
    expect(epochsOf(await readEpochChangeRange(engine, { ...ALL, version: 400n, lastEpoch: 50n }))).toEqual(
      range(40, 50),
    )
  })

  it('has none if no epoch ends', async () => {
    const engine = await storeFrom(first)
    for (const version of [401n, 10_000n])
      expect(await readEpochChangeRange(engine, { ...ALL, version })).toBeUndefined()
    expect(await readEpochChangeRange(engine, { ...ALL, version: 700n, lastEpoch: 50n })).toBeUndefined()
  })
})

describe('readEpochChangeRange', () => {
  it('ends after the bytes that are wanted, with one ending at least', async () => {
    const engine = await storeFrom(0)
    const { length } = endings[40]!
    expect(epochsOf(await readEpochChangeRange(engine, { ...ALL, version: 400n, maxBytes: 0 }))).toEqual([40])
    expect(
      epochsOf(await readEpochChangeRange(engine, { ...ALL, version: 400n, maxBytes: 2.5 * length })),
    ).toHaveLength(3)
  })

  it('is undefined for a store that keeps none', async () => {
    const engine = createMemoryEngine()
    await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
    expect(await readEpochChangeRange(engine, { ...ALL, version: 0n })).toBeUndefined()
    expect(await readEpochChangeRange(engineToAsync(engine), { ...ALL, version: 0n })).toBeUndefined()
  })
})
