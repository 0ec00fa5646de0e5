import { Buffer } from 'node:buffer'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import {
  bytesToHex,
  isLedgerStateError,
  type KeyedEntry,
  parseAddress,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { type LedgerSource, openSource } from '@ledger-state/feed'
import { startBucketServer } from '@ledger-state/feed/testing/bucket-server'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { createLedger } from '@ledger-state/ledger'
import { compareSlice } from '@ledger-state/ledger/testing/compare-slice'
import { expectedLeftOut, expectedMembers, membersIn } from '@ledger-state/ledger/testing/expected-members'
import {
  OUTER_TABLES,
  ownedObject,
  randomLedgers,
  randomSpecs,
  wholeOf,
} from '@ledger-state/ledger/testing/random-slices'
import { decodeCommitMark } from '@ledger-state/records'
import { parseSliceSpec, readLeftOut, readSlice, type SliceSpec, sliceDigest } from '@ledger-state/slices'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.ts'
import { ingestSource } from '../commit/ingest-source.js'

const RUNS = { numRuns: isSlowRun ? scaledRounds(200) : 5 }

/** Records in which each version is a block. */
function recordsOf(versions: readonly (readonly Write[])[], first = 0n): VersionWrites[] {
  return versions.map((writes, at) => {
    const version = first + BigInt(at)
    return { version, block: { height: version, epoch: 0n, timestampUsec: version * 10n }, writes }
  })
}

type Order = (a: KeyedEntry, b: KeyedEntry) => number

/** A source that begins with the state of an engine at a version, in parts of a few entries. */
function stateSource(
  engine: StateWriter,
  version: bigint,
  records: readonly VersionWrites[],
  order: Order = () => 0,
): LedgerSource {
  const entries = [...engine.at(version).scan(new Uint8Array(0))].map((entry) => ({ ...entry, version }))
  entries.sort(order)
  return {
    ...listedSource(records),
    base: {
      version,
      complete: true,
      async *parts(after) {
        for (let at = after ? Number(Buffer.from(after).toString()) : 0; at < entries.length; at += 3) {
          yield { entries: entries.slice(at, at + 3), mark: Buffer.from(String(at + 3)) }
        }
      },
      describe: () => ({
        chainId: 4,
        block: { height: version, epoch: 0n, timestampUsec: version * 10n },
        mark: undefined,
      }),
    },
  }
}

const leftOutOf = (engine: StateWriter) => readLeftOut(createLedger(engine).at().view)

function shuffledBy(seed: number): Order {
  const place = ({ key }: KeyedEntry) => key.reduce((hash, byte) => (Math.imul(hash, 31) + byte) | 0, seed)
  return (a, b) => place(a) - place(b)
}

describe('an ingest that keeps a slice', () => {
  it('agrees with the whole of a random ledger on everything or says that it does not know, even if it is cut short', async () => {
    await fc.assert(
      fc.asyncProperty(randomLedgers, randomSpecs, fc.nat(10), async (versions, spec, cut) => {
        const [whole, slice] = [await wholeOf(versions), createMemoryEngine()]
        const records = recordsOf(versions)
        await ingestSource(slice, listedSource(records.slice(0, cut + 1)), { only: { spec } })
        await ingestSource(slice, listedSource(records))
        expect(slice.ledger).toEqual(whole.ledger)
        expect(membersIn(slice)).toEqual(expectedMembers(versions, spec))
        expect(leftOutOf(slice)).toEqual(expectedLeftOut(undefined, versions, spec))
        expect(compareSlice(createLedger(whole), createLedger(slice)).known).toBeGreaterThan(0)
      }),
      RUNS,
    )
  })

  it('of a state keeps all of each member, however deep, in whatever order the state comes', async () => {
    await fc.assert(
      fc.asyncProperty(randomLedgers, randomSpecs, fc.nat(8), fc.nat(), async (versions, spec, at, seed) => {
        const from = Math.min(at, versions.length - 1)
        const whole = createMemoryEngine()
        const first = await wholeOf(versions.slice(0, from + 1))
        const later = recordsOf(versions.slice(from + 1), BigInt(from + 1))
        const open = async () => stateSource(first, BigInt(from), later, shuffledBy(seed))
        await ingestSource(whole, await open())
        const slice = createMemoryEngine()
        await ingestSource(slice, await open(), { only: { spec, reopen: open } })
        expect(slice.ledger).toEqual(whole.ledger)
        const state = [...first.at().scan(new Uint8Array(0))].map(({ key, value }): Write => [key, value])
        const written = [state, ...versions.slice(from + 1)]
        expect(membersIn(slice)).toEqual(expectedMembers(written, spec, BigInt(from)))
        expect(leftOutOf(slice)).toEqual(expectedLeftOut(state, versions.slice(from + 1), spec, BigInt(from)))
        compareSlice(createLedger(whole), createLedger(slice))
      }),
      RUNS,
    )
  })

  it('counts the omitted writes with each commit, which a copy inherits, and no hash depends on where it was interrupted', async () => {
    await fc.assert(
      fc.asyncProperty(randomLedgers, randomSpecs, fc.nat(10), async (versions, spec, cut) => {
        const records = recordsOf(versions)
        const [slice, other, copy] = [createMemoryEngine(), createMemoryEngine(), createMemoryEngine()]
        const first = records.slice(0, cut + 1)
        for (const part of [first, records]) await ingestSource(slice, listedSource(part), { only: { spec } })
        await ingestSource(other, listedSource(records), { only: { spec } })
        expect(readLeftOut(createLedger(slice).at(first.at(-1)!.version).view)).toEqual(
          expectedLeftOut(undefined, versions.slice(0, first.length), spec),
        )
        expect(decodeCommitMark(slice.mark).writesHash).toEqual(decodeCommitMark(other.mark).writesHash)
        const base = stateSource(slice, 0n, [...slice.versions(1n, slice.ledger!.latestVersion)])
        for (const source of [base, listedSource(records)]) {
          await ingestSource(copy, { ...source, ...(source === base && { slice: sliceDigest(spec) }) })
          expect(leftOutOf(copy)).toEqual(leftOutOf(slice))
        }
      }),
      RUNS,
    )
  })

  it('of a state is refused if members still join after the last pass, which the error names', async () => {
    // A chain of objects, each owned by the next one, whose entries come in the wrong order.
    const engine = createMemoryEngine()
    await engine.commit(
      [{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes: chainOfObjects(200) }],
      { chainId: 4 },
    )
    const open = async () => stateSource(engine, 0n, [], (a, b) => Buffer.compare(b.key, a.key))
    const spec = parseSliceSpec({ accounts: ['0xb0'] })
    const slice = createMemoryEngine()
    const failure = await ingestSource(slice, await open(), { only: { spec, reopen: open } }).catch((error) => error)
    expect(isLedgerStateError(failure, 'slice_unbounded')).toBe(true)
    expect(failure.message).toContain('0x')
    expect(slice.ledger).toBeUndefined()
    await ingestSource(slice, await open())
    expect(readSlice(createLedger(slice).at().view)).toBeUndefined()
  })

  it('is refused in a store that keeps everything, or another slice', async () => {
    const records = recordsOf([[], []])
    const store = createMemoryEngine()
    const only = (address: string) => ({ only: { spec: parseSliceSpec({ accounts: [address] }) } })
    await ingestSource(store, listedSource(records.slice(0, 1)), only('0xa1'))
    await expect(ingestSource(store, listedSource(records), only('0xa2'))).rejects.toThrow(
      'the store keeps a different slice, and the values that it left out cannot be added later: use a separate store for 0xa2',
    )
    await ingestSource(store, listedSource(records), only('0xa1'))
    expect(store.ledger?.latestVersion).toBe(1n)
    const whole = createMemoryEngine()
    await ingestSource(whole, listedSource(records.slice(0, 1)))
    await expect(ingestSource(whole, listedSource(records), only('0xa1'))).rejects.toThrow('keeps the whole ledger')
  })

  it('of an interrupted state never becomes a whole store: it is resumed with the same specification, from any source, or refused', async () => {
    const versions = [chainOfObjects(4), []]
    const first = await wholeOf(versions.slice(0, 1))
    const records = recordsOf(versions.slice(1), 1n)
    const later = await wholeOf([...versions, []])
    const open = async () => stateSource(first, 0n, records, shuffledBy(1))
    const spec = parseSliceSpec({ accounts: ['0xb0'] })
    /** A source that fails before it gives one of its parts, however often it is opened. */
    const openFailing = (at: number) => {
      const given = { parts: 0 }
      const reopen = async (): Promise<LedgerSource> => {
        const source = await open()
        const base = source.base!
        async function* parts(after: Uint8Array | undefined) {
          for await (const part of base.parts(after)) {
            if (given.parts++ === at) throw new Error('killed here')
            yield part
          }
        }
        return { ...source, base: { ...base, parts } }
      }
      return { given, reopen }
    }
    const whole = createMemoryEngine()
    const { given, reopen } = openFailing(Number.POSITIVE_INFINITY)
    await ingestSource(whole, await reopen(), { only: { spec, reopen } })
    expect(given.parts).toBeGreaterThan(4)
    for (let at = 0; at < given.parts; at++) {
      const slice = createMemoryEngine()
      const failing = openFailing(at)
      const cut = ingestSource(slice, await failing.reopen(), { only: { spec, reopen: failing.reopen } })
      await expect(cut).rejects.toThrow('killed here')
      const others = [await open(), stateSource(later, 2n, []), listedSource(recordsOf(versions))]
      for (const source of others) {
        await expect(ingestSource(slice, source)).rejects.toMatchObject({
          code: 'slice_mismatch',
          message: expect.stringMatching(/^the ingest of a slice into this store was interrupted/),
        })
      }
      const notices: string[] = []
      const onNotice = (message: string) => notices.push(message)
      await ingestSource(slice, await open(), { only: { spec, reopen: open }, onNotice })
      expect(notices.some((notice) => notice.startsWith('resuming after entry'))).toBe(at === given.parts - 1)
      expect([...slice.at().scan(new Uint8Array(0))]).toEqual([...whole.at().scan(new Uint8Array(0))])
    }
  })

  it('of a state that was cut short starts over if another slice is asked for', async () => {
    const first = await wholeOf([chainOfObjects(4)])
    const open = async () => stateSource(first, 0n, [])
    const slice = createMemoryEngine()
    const stop = new AbortController()
    stop.abort()
    const only = (address: string) => ({ only: { spec: parseSliceSpec({ accounts: [address] }), reopen: open } })
    await ingestSource(slice, await open(), { ...only('0xb0'), signal: stop.signal })
    expect(slice.ledger).toBeUndefined()
    await expect(ingestSource(slice, await open())).rejects.toMatchObject({ code: 'slice_mismatch' })
    const notices: string[] = []
    await ingestSource(slice, await open(), { ...only('0xb1'), onNotice: (message) => notices.push(message) })
    expect(notices[0]).toBe('the interrupted import kept another part of the state: it starts over')
    expect(readSlice(createLedger(slice).at().view)).toMatchObject({ digest: sliceDigest(only('0xb1').only.spec) })
  })

  it('of a state needs a source that can be opened again', async () => {
    const engine = await wholeOf([[]])
    const spec = parseSliceSpec({ tables: [`0x${Buffer.from(OUTER_TABLES[0]!).toString('hex')}`] })
    const failure = ingestSource(createMemoryEngine(), stateSource(engine, 0n, []), { only: { spec } })
    await expect(failure).rejects.toThrow(
      'the source can be read only once, but a slice of a state is selected by reading the state several times',
    )
  })
})

describe('a slice of a backup in a bucket', () => {
  it('matches the same backup in a folder, although its state is read several times', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bucket-slice-'))
    const chain = new SyntheticChain({ blocks: 60 })
    const version = chain.records.findLastIndex(({ info }, at) => at < 150 && info[9] === 0 && info[106] === 1)
    const snapshot = relative(folder, writeBackup(chain, folder, { snapshot: { version, chunk: 15 } }))
    const bucket = await startBucketServer(folder, { isConstant: true })
    const ingested = async (root: string, spec: SliceSpec) => {
      const engine = createMemoryEngine()
      const open = () => openSource(`${root}/${snapshot}`, { thread: false })
      for (const [at, source] of [await open(), await openSource(root, { thread: false })].entries()) {
        await ingestSource(engine, source, at === 0 ? { only: { spec, reopen: open, folder } } : {})
        await source.close()
      }
      const entries = [...engine.at().scan(new Uint8Array(0))]
      return {
        ledger: engine.ledger,
        entries: entries.map(({ key, value }) => `${bytesToHex(key)} ${bytesToHex(value)}`),
      }
    }
    try {
      const tables = [
        ...new Set(
          chain.stateLeaves(version).flatMap(({ key }) => (key[0] === 1 ? [bytesToHex(key.subarray(1, 33))] : [])),
        ),
      ]
      const spec = parseSliceSpec({ tables: tables.slice(0, 1) })
      const kept = await ingested(folder, spec)
      expect(kept.ledger!.latestVersion).toBe(BigInt(chain.latestVersion))
      expect(kept.entries.length).toBeGreaterThan(10)
      expect(await ingested(bucket.url, spec)).toEqual(kept)
      const chunks = bucket.requests.filter(({ key }) => key.startsWith(`${snapshot}/`) && key.includes('chunk'))
      expect(chunks.some(({ before }) => before > 0)).toBe(true)
    } finally {
      await bucket.close()
      rmSync(folder, { recursive: true })
    }
  })
})

/** Writes of objects, the last one first. The first object is owned by 0xb0, each other one by the object before. */
function chainOfObjects(count: number): Write[] {
  const addressOf = (at: number) => parseAddress(`0xb${at.toString(16).padStart(4, '0')}`)
  return Array.from({ length: count }, (_, at) =>
    ownedObject(addressOf(at + 1), at ? addressOf(at) : parseAddress('0xb0')),
  )
}
