import { bytesToHex } from '@ledger-state/core'
import { createMemoryEngine, type StateEngineReader } from '@ledger-state/engine'
import { randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import { decodeCommitMark, encodeCommitMark, HOLDINGS_KEY, isHoldingsKey } from '@ledger-state/records'
import { overriding } from '@ledger-state/testing/overriding'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.js'
import { ingestSource } from '../commit/ingest-source.js'
import { indexStore } from './index-store.js'

const seed = testSeed()

/**
 * All entries of a version, as texts; without the notes of ended holdings, which a copy has only for its own window.
 */
function contentAt(engine: StateEngineReader, version: bigint): string[] {
  const isKept = (key: Uint8Array): boolean => !isHoldingsKey(key) || (key[1]! !== 0x13 && key[1]! !== 0x14)
  const texts: string[] = []
  for (const { key, value } of engine.at(version).scan(new Uint8Array(0))) {
    if (isKept(key)) texts.push(`${bytesToHex(key)}=${bytesToHex(value)}`)
  }
  return texts
}

it('a copy has the index that an ingest would have written, even if it is cut short and resumed', async () => {
  const random = createRandom(seed)
  for (let round = 0; round < 10; round++) {
    const { versions } = randomHoldings(random, 40)
    const [plain, indexed, copy] = [createMemoryEngine(), createMemoryEngine(), createMemoryEngine()]
    await ingestSource(plain, listedSource(versions), { holdings: false })
    await ingestSource(indexed, listedSource(versions))
    const retained = BigInt(1 + random.below(40))
    for (const engine of [plain, indexed]) await engine.prune(retained)
    let left = random.below(4)
    const step = async <T>(work: () => Promise<T>): Promise<T> => {
      if (left-- === 0) throw new Error('killed here')
      return await work()
    }
    const failing = overriding(copy, {
      commit: (records, how) => step(() => copy.commit(records, how)),
      putMark: (mark) => step(() => copy.putMark(mark)),
      beginImport: (version, how) => step(() => copy.beginImport(version, how)),
    })
    const options = { description: 'a store' }
    await indexStore(failing, plain, options).catch((error: Error) => expect(error.message).toBe('killed here'))
    await indexStore(copy, plain, options)
    expect(copy.ledger).toEqual(indexed.ledger)
    expect(copy.mark).toEqual(indexed.mark)
    for (let version = plain.ledger!.oldestVersion; version < 40n; version++) {
      expect(contentAt(copy, version), `seed ${seed}, round ${round}, version ${version}`).toEqual(
        contentAt(indexed, version),
      )
    }
    expect(copy.at().has(HOLDINGS_KEY)).toBe(true)
  }
})

it('a copy of a store without a hash of all writes has one, the same in each copy', async () => {
  const { versions } = randomHoldings(createRandom(seed), 30)
  const plain = createMemoryEngine()
  await ingestSource(plain, listedSource(versions), { holdings: false })
  const before = decodeCommitMark(plain.mark)
  await plain.putMark(encodeCommitMark({ ...before, writesHash: undefined }))
  const copies = [createMemoryEngine(), createMemoryEngine()]
  for (const copy of copies) {
    await indexStore(copy, plain, { description: 'a store' })
    // The same call once more changes nothing.
    const { mark } = copy
    await indexStore(copy, plain, { description: 'a store' })
    expect(copy.mark).toEqual(mark)
  }
  const [first, second] = copies.map(({ mark }) => decodeCommitMark(mark))
  expect(first!.writesHash).toHaveLength(32)
  expect(second).toEqual(first)
  expect({ ...first, writesHash: undefined }).toEqual({ ...before, writesHash: undefined })
})
