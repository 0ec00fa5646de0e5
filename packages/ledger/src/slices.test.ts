import { bytesToHex, type Write } from '@ledger-state/core'
import {
  engineToAsync,
  type HistoryOptions,
  MAX_KEY_LENGTH,
  nearestInHistory,
  type StateReader,
  type StateWriter,
  type WriteSearch,
} from '@ledger-state/engine'
import { readSlice, SlicedReader } from '@ledger-state/slices'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { accountKeyPrefix, resourceKey, tableKeyPrefix } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareSlice, readsAt, said, UNKNOWN } from '../testing/compare-slice.ts'
import { expectedMembers, membersIn } from '../testing/expected-members.ts'
import {
  ACCOUNTS,
  ASSETS,
  OBJECTS,
  ownedObject,
  PLAIN,
  randomLedgers,
  randomSpecs,
  sliceOf,
  wholeOf,
} from '../testing/random-slices.ts'
import { createAsyncLedger, createLedger, listResources, parseAsset, readBalance, readStateValue } from './index.js'

const RUNS = { numRuns: isSlowRun ? scaledRounds(60) : 6 }

it('a slice says the same as the whole ledger, or that it does not know, on every key and version of random ledgers', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomLedgers,
      randomSpecs,
      fc.nat(30),
      fc.integer({ min: 1, max: 4 }),
      async (versions, spec, resumesAt, batch) => {
        const [whole, slice] = [await wholeOf(versions), await sliceOf(versions, spec, { resumesAt, batch })]
        const { known } = compareSlice(createLedger(whole), createLedger(slice))
        expect(known).toBeGreaterThan(0)
        const retain = BigInt(Math.ceil(versions.length / 2))
        await whole.prune(retain)
        await slice.prune(retain)
        compareSlice(createLedger(whole), createLedger(slice), isSlowRun ? 1n : 3n)
      },
    ),
    RUNS,
  )
})

describe.each([
  ['a key', resourceKey(OBJECTS[0]!, PLAIN), true],
  ['the longest key whose deletion is noted', keyOfLength(MAX_KEY_LENGTH - 2), true],
  ['a key that is a byte too long for a note', keyOfLength(MAX_KEY_LENGTH - 1), false],
  ['a key that is as long as a store takes', keyOfLength(MAX_KEY_LENGTH), false],
])('%s that was deleted and made again', (_, key, isNoted) => {
  const [kept, other, object] = [ACCOUNTS[0]!, ACCOUNTS[1]!, OBJECTS[0]!]
  const value = new Uint8Array(8)
  const versions: (readonly Write[])[] = [
    [],
    [ownedObject(object, other), [key, value, Uint8Array.of(1)]],
    [ownedObject(object, kept)],
    [],
    [[key, null]],
    [],
    [[key, value, Uint8Array.of(1)]],
    [[key, null]],
    [[key, value, Uint8Array.of(1)]],
  ]
  const spec = { accounts: [kept], tables: [], types: [] }
  const readAt = (engine: StateReader, version: bigint) =>
    said(() => bytesToHex(readStateValue(createLedger(engine).at(version), key).value))
  const historyIn = (engine: StateReader, range: HistoryOptions) =>
    said(() => [...engine.history(key, range)].map(({ version, value }) => [version, value !== null]))

  it('is not taken for one that was not there before', async () => {
    const [whole, slice] = [await wholeOf(versions), await sliceOf(versions, spec)]
    compareSlice(createLedger(whole), createLedger(slice))
    const isKnown = versions.map((_, at) => {
      const found = readAt(slice, BigInt(at))
      if (found !== UNKNOWN) expect(found).toEqual(readAt(whole, BigInt(at)))
      return found !== UNKNOWN
    })
    expect(isKnown).toEqual([false, false, false, false, isNoted, true, true, true, true])
  })

  it('has its deletions in its history, or that is not known', async () => {
    const [whole, slice] = [await wholeOf(versions), await sliceOf(versions, spec)]
    const reader = new SlicedReader(slice, readSlice(slice.at())!)
    const ranges = [
      { first: 2n },
      { first: 2n, last: 5n },
      { first: 2n, last: 3n },
      { first: 5n },
      { first: 5n, last: 5n },
    ]
    for (const order of ['asc', 'desc'] as const) {
      for (const range of ranges) {
        expect(historyIn(reader, { ...range, order })).toEqual(
          isNoted ? historyIn(whole, { ...range, order }) : UNKNOWN,
        )
      }
      for (const first of [6n, 7n, 8n]) {
        expect(historyIn(reader, { first, order })).toEqual(historyIn(whole, { first, order }))
      }
    }
  })

  it('is known as the whole knows it, or not, whatever becomes of it and of its object', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            write: fc.constantFrom(value, null, undefined),
            owner: fc.constantFrom(kept, other, undefined, undefined, undefined),
          }),
          { maxLength: 12 },
        ),
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        fc.bigInt(1n, 12n),
        async (steps, saysCreations, batch, retain) => {
          let isThere = true
          const later = steps.map(({ write, owner }): Write[] => {
            const writes = owner ? [ownedObject(object, owner)] : []
            // The chain deletes only keys that exist.
            if (write === undefined || (write === null && !isThere)) return writes
            const isCreation = write !== null && !isThere && saysCreations
            isThere = write !== null
            return [...writes, isCreation ? [key, write, Uint8Array.of(1)] : [key, write]]
          })
          const written = [...versions.slice(0, 2), ...later]
          const [whole, slice] = [await wholeOf(written), await sliceOf(written, spec, { batch })]
          compareKey(whole, slice)
          for (const engine of [whole, slice]) await engine.prune(retain)
          compareKey(whole, slice)
        },
      ),
      // Reads of a key of 64 KiB take 4 to 25 times as long as reads of a short one.
      { numRuns: (isSlowRun ? 10 : 1) * (key.length > 1_000 ? 4 : 40) },
    )
  })

  /**
   * Compares a slice with the whole ledger about one key: at each version, for each range of versions, and for each
   * search for a write.
   */
  function compareKey(whole: StateWriter, slice: StateWriter): void {
    const reader = new SlicedReader(slice, readSlice(slice.at())!)
    const { oldestVersion, latestVersion } = whole.ledger!
    for (let first = oldestVersion; first <= latestVersion; first++) {
      const found = readAt(slice, first)
      if (found !== UNKNOWN) {
        expect(found, `at ${first}`).toEqual(readAt(whole, first))
        compareSearch(whole, reader, { until: first })
      }
      for (let last = first; last <= latestVersion; last++) {
        for (const order of ['asc', 'desc'] as const) {
          const range = { first, last, order }
          const found = historyIn(reader, range)
          if (found !== UNKNOWN) expect(found, `from ${first} to ${last}, ${order}`).toEqual(historyIn(whole, range))
        }
        if (found !== UNKNOWN) compareSearch(whole, reader, { above: first, last })
      }
    }
  }

  /** The search begins where the state of the key is known. It finds the writes of the history. */
  function compareSearch(whole: StateReader, reader: SlicedReader, search: WriteSearch): void {
    const found = said(() => reader.nearestWrite(key, search))
    if (found === UNKNOWN) expect(said(() => nearestInHistory(reader, key, search))).toBe(UNKNOWN)
    else expect(found).toBe(nearestInHistory(whole, key, search))
  }
})

/** A key of a given length of a resource of the first object. */
function keyOfLength(length: number): Uint8Array {
  const keyOf = (letters: number) => resourceKey(OBJECTS[0]!, { ...PLAIN, name: 'N'.repeat(letters) })
  const letters = 60_000
  return keyOf(letters + length - keyOf(letters).length)
}

it('a slice over an engine whose reads are promises answers as one over the engine itself', async () => {
  await fc.assert(
    fc.asyncProperty(randomLedgers, randomSpecs, async (versions, spec) => {
      const engine = await sliceOf(versions, spec)
      const ledger = createAsyncLedger(engineToAsync(engine))
      const sync = createLedger(engine)
      const version = sync.info!.latestVersion / 2n
      for (const [at, [name, read]] of [...readsAt(sync.at(version))].entries()) {
        const found = await ledger.read((one) => said([...readsAt(one.at(version))][at]![1]))
        expect(found, name).toEqual(said(read))
      }
    }),
    { numRuns: isSlowRun ? scaledRounds(50) : 2 },
  )
})

it('a slice knows all of the accounts and tables that it was asked for, at every version', async () => {
  await fc.assert(
    fc.asyncProperty(randomLedgers, randomSpecs, async (versions, spec) => {
      const [whole, slice] = [await wholeOf(versions), await sliceOf(versions, spec)]
      for (let version = 0n; version < versions.length; version++) {
        for (const prefix of [
          ...Array.from(spec.accounts, accountKeyPrefix),
          ...Array.from(spec.tables, tableKeyPrefix),
        ]) {
          expect(keysOf(slice, version, prefix)).toEqual(keysOf(whole, version, prefix))
        }
        const state = createLedger(slice).at(version)
        for (const account of spec.accounts) {
          for (const asset of ASSETS) readBalance(state, account, parseAsset(bytesToHex(asset)))
          expect([...listResources(state, account)]).toBeInstanceOf(Array)
        }
      }
    }),
    { numRuns: isSlowRun ? scaledRounds(100) : 6 },
  )
})

it('tables join at the version in which a kept value holds them and gives their types, at any depth', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomLedgers,
      randomSpecs,
      fc.nat(30),
      fc.integer({ min: 1, max: 4 }),
      async (versions, spec, resumesAt, batch) => {
        const slice = await sliceOf(versions, spec, { resumesAt, batch })
        expect(membersIn(slice)).toEqual(expectedMembers(versions, spec))
      },
    ),
    { numRuns: isSlowRun ? scaledRounds(3_000) : 150 },
  )
})

function keysOf(engine: StateWriter, version: bigint, prefix: Uint8Array): string[] {
  return [...engine.at(version).scan(prefix)].map(({ key, value }) => `${bytesToHex(key)} ${bytesToHex(value)}`)
}
