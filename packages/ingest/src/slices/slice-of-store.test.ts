import { Buffer } from 'node:buffer'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { compareSlice } from '@ledger-state/ledger/testing/compare-slice'
import { expectedMembers, membersIn } from '@ledger-state/ledger/testing/expected-members'
import { randomLedgers, randomSpecs } from '@ledger-state/ledger/testing/random-slices'
import { decodeCommitMark, encodeCommitMark, isOwnKey, type SignedRange } from '@ledger-state/records'
import { parseSliceSpec } from '@ledger-state/slices'
import { overriding } from '@ledger-state/testing/overriding'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.ts'
import { ingestSource } from '../commit/ingest-source.js'
import { rejectUnsigned } from '../signatures/reject-unsigned.js'
import { ingestSliceOfStore } from './slice-of-store.js'

const RUNS = { numRuns: isSlowRun ? scaledRounds(100) : 5 }
const DESCRIPTION = 'snapshot of a node'

function recordsOf(versions: readonly (readonly Write[])[], first = 0n): VersionWrites[] {
  return versions.map((writes, at) => {
    const version = first + BigInt(at)
    return { version, block: { height: version, epoch: 0n, timestampUsec: version * 10n }, writes }
  })
}

async function ingest(engine: StateWriter, records: readonly VersionWrites[]): Promise<void> {
  await ingestSource(engine, listedSource(records))
}

const markOf = (engine: StateWriter) => decodeCommitMark(engine.mark)
const signedAt = (version: bigint): SignedRange => ({
  version,
  epoch: 3n,
  waypoint: '0:0x00',
  ending: '0:0x00',
  power: undefined,
})

/** A store of all versions, pruned before a window. */
async function wholeStore(versions: readonly (readonly Write[])[], retain: number): Promise<StateWriter> {
  const whole = createMemoryEngine()
  await ingest(whole, recordsOf(versions))
  await whole.prune(BigInt(retain))
  return whole
}

/** Makes a store's mark say that validators signed it up to a version, as an ingest from a backup does. */
async function sign(whole: StateWriter, records: readonly VersionWrites[], version: bigint): Promise<void> {
  const { latestVersion } = whole.ledger!
  const upTo = createMemoryEngine()
  await ingest(upTo, records.slice(0, Number(version) + 1))
  const { source, writesHash } = markOf(upTo)
  const resume = { source, writesHash, wholeHash: undefined }
  const signed = { ...signedAt(version), ...(version < latestVersion && { resume }) }
  const mark = encodeCommitMark({ ...markOf(whole), isUnproven: false, signed })
  await whole.putMark(mark)
}

describe('a slice of a store', () => {
  it('agrees with the whole or says that it does not know, and has the members of the state at its oldest version', async () => {
    await fc.assert(
      fc.asyncProperty(randomLedgers, randomSpecs, fc.integer({ min: 1, max: 30 }), async (versions, spec, retain) => {
        const whole = await wholeStore(versions, retain)
        const slice = createMemoryEngine()
        await ingestSliceOfStore(slice, whole, { only: { spec }, description: DESCRIPTION })
        expect(slice.ledger).toEqual(whole.ledger)
        const { oldestVersion } = whole.ledger!
        const state = [...whole.at(oldestVersion).scan(new Uint8Array(0))]
          .filter(({ key }) => !isOwnKey(key))
          .map(({ key, value }): Write => [key, value])
        const written = [state, ...versions.slice(Number(oldestVersion) + 1)]
        expect(membersIn(slice)).toEqual(expectedMembers(written, spec, oldestVersion))
        compareSlice(createLedger(whole), createLedger(slice), 3n)
        expect(markOf(slice)).toMatchObject({
          wholeHash: markOf(whole).writesHash,
          isUnproven: markOf(whole).isUnproven,
        })
      }),
      RUNS,
    )
  })

  it('is resumed after it was cut short, and is the same as one that was not', async () => {
    await fc.assert(
      fc.asyncProperty(randomLedgers, randomSpecs, fc.nat(6), async (versions, spec, cutAt) => {
        const whole = await wholeStore(versions, 12)
        await sign(whole, recordsOf(versions), whole.ledger!.oldestVersion + 1n)
        const options = { only: { spec }, description: DESCRIPTION }
        const [slice, other] = [createMemoryEngine(), createMemoryEngine()]
        await ingestSliceOfStore(other, whole, options)
        let steps = 0
        const step = async <T>(work: () => Promise<T>): Promise<T> => {
          if (steps++ === cutAt) throw new Error('killed here')
          return await work()
        }
        const failing = overriding(slice, {
          commit: (records, how) => step(() => slice.commit(records, how)),
          putMark: (mark) => step(() => slice.putMark(mark)),
          beginImport: (version, how) => step(() => slice.beginImport(version, how)),
        })
        await ingestSliceOfStore(failing, whole, options).catch((error: Error) =>
          expect(error.message).toBe('killed here'),
        )
        await ingestSliceOfStore(slice, whole, options)
        expect(membersIn(slice)).toEqual(membersIn(other))
        expect(markOf(slice)).toEqual(markOf(other))
        expect([...slice.at().scan(new Uint8Array(0))]).toEqual([...other.at().scan(new Uint8Array(0))])
      }),
      RUNS,
    )
  })

  it('takes over how far the whole is signed, and is cut off there as the whole is', async () => {
    const item = (at: number): Write => [Buffer.from([1, ...new Uint8Array(31), 7, at]), Buffer.from([at])]
    const versions = Array.from({ length: 20 }, (_, at) => [item(at % 5)])
    const only = { spec: parseSliceSpec({ tables: ['0x7'] }) }
    for (const signedVersion of [5n, 9n, 13n, 19n]) {
      const whole = await wholeStore(versions, 11)
      expect(whole.ledger!.oldestVersion).toBe(9n)
      await sign(whole, recordsOf(versions), signedVersion)
      const slice = createMemoryEngine()
      await ingestSliceOfStore(slice, whole, { only, description: DESCRIPTION })
      expect(markOf(slice).signed).toMatchObject({ version: signedVersion, epoch: 3n })
      if (signedVersion < 9n) {
        await expect(rejectUnsigned(slice)).rejects.toMatchObject({ code: 'untrusted' })
        continue
      }
      await rejectUnsigned(whole)
      await rejectUnsigned(slice)
      expect(slice.ledger!.latestVersion).toBe(signedVersion)
      expect(markOf(slice)).toEqual({
        ...markOf(whole),
        writesHash: markOf(slice).writesHash,
        wholeHash: markOf(whole).writesHash,
      })
      expect(markOf(slice).writesHash).toBeDefined()
      const more = recordsOf([[item(1)]], signedVersion + 1n)
      for (const engine of [whole, slice]) await ingest(engine, more)
      expect([...slice.at().scan(item(0)[0].subarray(0, 33))]).toEqual([...whole.at().scan(item(0)[0].subarray(0, 33))])
    }
  })

  it('is not made from a store that is empty, or keeps a slice itself', async () => {
    const only = { spec: parseSliceSpec({ accounts: ['0x7'] }) }
    const [empty, slice] = [createMemoryEngine(), createMemoryEngine()]
    const make = (whole: StateWriter) =>
      ingestSliceOfStore(createMemoryEngine(), whole, { only, description: DESCRIPTION })
    await expect(make(empty)).rejects.toMatchObject({ code: 'no_ledger' })
    await ingestSource(slice, listedSource(recordsOf([[]])), { only })
    await expect(make(slice)).rejects.toMatchObject({
      code: 'slice_mismatch',
      message: expect.stringMatching(/^snapshot of a node: the source itself keeps a slice/),
    })
  })
})
