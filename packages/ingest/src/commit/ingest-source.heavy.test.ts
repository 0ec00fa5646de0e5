import { Buffer } from 'node:buffer'
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isLedgerStateError, type VersionWrites } from '@ledger-state/core'
import { feedHeaderLine, openSource, type Reading, type SourceOptions, stateToFeedLine } from '@ledger-state/feed'
import { type StandInNode, sendError, startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  madeEndings,
  signedLedgerInfo,
  validatorsOf,
  waypointHash,
  writeEndings,
} from '@ledger-state/feed/testing/synthetic-epochs'
import { decodeCommitMark } from '@ledger-state/records'
import type { StateEngine } from '@ledger-state/state-engine'
import { overriding } from '@ledger-state/testing/overriding'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listedBlocks, listedSource, markOf } from '../../testing/listed-source.ts'
import { contentOf, createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import type { IngestOptions } from './ingest-options.js'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = chain.latestVersion
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 150 && info[9] === 0 && info[106] === 1)

let bed: StoreBed
beforeEach(() => {
  bed = createStoreBed()
})
afterEach(() => bed.close())

/** Ingests a file, a folder or a node, and closes the source. */
async function ingest(engine: StateEngine, location: string, options: IngestOptions & SourceOptions = {}) {
  const source = await openSource(location, { thread: false, ...options })
  try {
    // Whole transactions lie in blocks that end where an ingest stops, so they would tell stores apart that should be equal.
    return await ingestSource(engine, source, { keepTransactions: 'none', ...options })
  } finally {
    await source.close()
  }
}

const heldVersions = ({ ledger }: StateEngine) => ledger && [ledger.oldestVersion, ledger.latestVersion]

describe('an ingest of a whole ledger', () => {
  it('resumes where the store ends, whichever source comes next, with the same outcome', async () => {
    writeBackup(chain, bed.at('backup'), { format: 'V1' })
    writeFileSync(bed.at('genesis.blob'), chain.genesisBlob)
    const whole = await bed.open('whole')
    expect(await ingest(whole, bed.at('backup'))).toMatchObject({ versions: Number(LAST) + 1, latestVersion: LAST })
    const parts = await bed.open('parts')
    await ingest(parts, bed.at('genesis.blob'))
    expect(parts.base).toEqual({ version: 0n, complete: true })
    await ingest(parts, bed.at('backup'), { to: 50n })
    expect(heldVersions(parts)).toEqual([0n, 50n])
    await ingest(parts, bed.at('backup'), { to: 50n })
    await ingest(parts, bed.at('backup'))
    expect(contentOf(parts)).toEqual(contentOf(whole))
    expect(await ingest(parts, bed.at('backup'))).toMatchObject({ versions: 0, latestVersion: LAST })
  })

  it('commits the versions before a damaged file, and resumes once the file is whole', async () => {
    writeBackup(chain, bed.at('backup'), { gzip: false })
    const chunk = bed.at('backup/transaction_50-.ab12/75-.chunk')
    const content = readFileSync(chunk)
    const engine = await bed.open('store')
    const flipped = Buffer.from(content)
    flipped[200]! ^= 1
    for (const damaged of [content.subarray(0, content.length >> 1), flipped]) {
      writeFileSync(chunk, damaged)
      await expect(ingest(engine, bed.at('backup'))).rejects.toThrow(/transaction_50-.ab12\/75-.chunk.*record \d+/)
      expect(heldVersions(engine)).toEqual([0n, 74n])
    }
    renameSync(chunk, `${chunk}.away`)
    await expect(ingest(engine, bed.at('backup'))).rejects.toThrow(/the backup is missing .*75-.chunk/)
    writeFileSync(chunk, content)
    await ingest(engine, bed.at('backup'))
    expect(heldVersions(engine)).toEqual([0n, LAST])
  })

  it('names the version that the store refuses', async () => {
    const [first, second] = listedBlocks([1, 1])
    const twice: VersionWrites = { ...second!, writes: [...second!.writes, ...second!.writes] }
    const engine = await bed.open('store')
    await expect(ingestSource(engine, listedSource([first!, twice]))).rejects.toMatchObject({
      code: 'duplicate_key',
      message: expect.stringMatching(/^version 1: /),
    })
  })
})

describe('an empty store', () => {
  it('needs a base, unless an empty one is assumed', async () => {
    writeBackup(chain, bed.at('backup'), { first: 31, chunk: 20 })
    const engine = await bed.open('store')
    await expect(ingest(engine, bed.at('backup'))).rejects.toMatchObject({
      code: 'base_missing',
      message: expect.stringMatching(/\(version 31\): the source begins at version 31, but the store is empty/),
      fields: { option: 'assumeEmptyBase' },
    })
    const notices: string[] = []
    await ingest(engine, bed.at('backup'), { assumeEmptyBase: true, onNotice: (text) => notices.push(text) })
    const { version } = chain.expected.find((one) => one.version >= 31n && one.block)!
    expect(notices).toEqual([
      expect.stringContaining('are not verified'),
      expect.stringContaining(`begins at version ${version} on an assumed empty base`),
    ])
    expect(engine.base).toEqual({ version, complete: false })
  })

  it('refuses a state that is not complete, unless that is assumed', async () => {
    const block = { height: 1n, epoch: 1n, timestampUsec: 1n }
    const header = feedHeaderLine({ chainId: 4, base: { version: 9n, block, complete: false } })
    const entry = { key: Buffer.of(1), value: Buffer.of(2), version: 9n }
    writeFileSync(bed.at('feed'), `${header}\n${stateToFeedLine([entry])}\n`)
    const engine = await bed.open('store')
    await expect(ingest(engine, bed.at('feed'))).rejects.toMatchObject({ code: 'base_missing' })
    expect(await ingest(engine, bed.at('feed'), { assumeEmptyBase: true })).toMatchObject({ entries: 1 })
    expect(engine.base).toEqual({ version: 9n, complete: false })
  })

  it('begins with the first block from the version asked for; a store that holds versions gets no gap', async () => {
    writeBackup(chain, bed.at('backup'))
    const engine = await bed.open('store')
    await ingest(engine, bed.at('backup'), { from: 60n, to: 90n, assumeEmptyBase: true })
    const { version } = chain.expected.find((one) => one.version >= 60n && one.block)!
    expect(heldVersions(engine)).toEqual([version, 90n])
    await expect(ingest(engine, bed.at('backup'), { from: 95n })).rejects.toMatchObject({
      code: 'version_gap',
      message: 'cannot begin at version 95: the next version of the store is 91',
      fields: { expected: 91n, found: 95n },
    })
    await expect(ingestSource(engine, listedSource(listedBlocks([1], 95n), { chainId: 42 }))).rejects.toMatchObject({
      code: 'version_gap',
      message: 'version 95: expected version 91, the next one of the store; found version 95',
    })
  })
})

describe('a state snapshot', () => {
  it('is a base from which the transactions answer as from genesis', async () => {
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: SNAPSHOT, chunk: 15 } })
    const engine = await bed.open('store')
    const { entries } = await ingest(engine, snapshot)
    expect(entries).toBe(chain.stateLeaves(SNAPSHOT).length)
    expect(engine.base).toEqual({ version: BigInt(SNAPSHOT), complete: true })
    await ingest(engine, bed.at('backup'))
    const whole = await bed.open('whole')
    await ingest(whole, bed.at('backup'))
    const [held, expected] = [contentOf(engine)!, contentOf(whole)!]
    expect(held.mark).toBe(expected.mark)
    expect(held.versions).toEqual(expected.versions.slice(SNAPSHOT))
    expect(await ingest(whole, snapshot)).toMatchObject({ entries: 0, versions: 0 })
    const early = await bed.open('early')
    await ingest(early, bed.at('backup'), { to: 20n })
    await expect(ingest(early, snapshot)).rejects.toMatchObject({ code: 'store_not_empty' })
  })

  it('is resumed after each part', async () => {
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: SNAPSHOT, chunk: 15 } })
    const whole = await bed.open('whole')
    await ingest(whole, snapshot)
    let runs = 0
    for (let engine = await bed.open('store'); !engine.ledger; engine = await bed.open('store'), runs++) {
      const stop = new AbortController()
      const progress = { update: () => stop.abort(), finish() {} }
      await ingest(engine, snapshot, { signal: stop.signal, progress })
    }
    expect(runs).toBe(1 + Math.ceil(chain.stateLeaves(SNAPSHOT).length / 15))
    expect(contentOf(await bed.open('store'))).toEqual(contentOf(whole))
  })
})

describe('the import of a state that was cut short', () => {
  it('is dropped with a notice if the source begins with the state of another version', async () => {
    const other = chain.records.findLastIndex(({ info }, at) => at < SNAPSHOT && info[9] === 0 && info[106] === 1)
    const snapshots = [SNAPSHOT, other].map((version) =>
      writeBackup(chain, bed.at(`backup ${version}`), { snapshot: { version, chunk: 15 } }),
    )
    const engine = await bed.open('store')
    const stop = new AbortController()
    const progress = { update: () => stop.abort(), finish() {} }
    await ingest(engine, snapshots[0]!, { signal: stop.signal, progress })
    expect(engine.ledger).toBeUndefined()
    const notices: string[] = []
    await ingest(engine, snapshots[1]!, { onNotice: (text) => notices.push(text) })
    expect(engine.base).toEqual({ version: BigInt(other), complete: true })
    expect(notices).toContain(
      `the import of the state at version ${SNAPSHOT} that was cut short is dropped: the source begins with the state at version ${other}`,
    )
  })
})

describe('another ledger', () => {
  it.each([
    ['by its accumulator', true, /differs from the ledger of the store/],
    ['by the writes of its version', false, /differs from version \d+ of the store/],
  ])('is refused %s', async (_, verify, message) => {
    writeBackup(chain, bed.at('backup'))
    writeBackup(new SyntheticChain({ blocks: 60, seed: 5 }), bed.at('other'))
    const busy = chain.expected.findIndex(({ writes }, version) => version > 60 && writes.length > 3)
    const engine = await bed.open('store')
    await ingest(engine, bed.at('backup'), { to: BigInt(busy), verify })
    await expect(ingest(engine, bed.at('other'), { verify })).rejects.toMatchObject({
      code: 'ledger_fork',
      message: expect.stringMatching(message),
    })
    expect(heldVersions(engine)).toEqual([0n, BigInt(busy)])
  })

  it('is refused by the block of its newest version', async () => {
    const records = listedBlocks([2, 1])
    const engine = await bed.open('store')
    await ingestSource(engine, listedSource(records))
    const other = records.map((record) =>
      record.version === 2n ? { ...record, block: { ...record.block!, timestampUsec: 77n } } : record,
    )
    await expect(ingestSource(engine, listedSource(other))).rejects.toMatchObject({ code: 'ledger_fork' })
  })

  it('is refused by its chain id', async () => {
    const engine = await bed.open('store')
    await ingestSource(engine, listedSource(listedBlocks([1]), { chainId: 4 }))
    const more = listedBlocks([1, 1])
    const attempt = (chainId: number, options: IngestOptions = {}) =>
      ingestSource(engine, listedSource(more, { chainId }), options)
    await expect(attempt(5)).rejects.toThrow('the source has chain 5, but the store holds chain 4')
    await expect(attempt(4, { chainId: 6 })).rejects.toThrow('chain 6 was requested, but the store holds chain 4')
    const empty = await bed.open('empty')
    await expect(ingestSource(empty, listedSource(more), { chainId: 6 })).rejects.toMatchObject({
      code: 'chain_id_mismatch',
      message: expect.stringMatching(/the source has chain 4, but chain 6 was requested$/),
    })
  })

  it('must have a chain id from the store, the source or the caller', async () => {
    writeBackup(chain, bed.at('backup'), { first: 1, chunk: 3 })
    const engine = await bed.open('store')
    const options = { assumeEmptyBase: true, to: 1n }
    await expect(ingest(engine, bed.at('backup'), options)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/record 0 \(version 1\): the source does not contain its chain id/),
      fields: { option: 'chainId' },
    })
    await ingest(engine, bed.at('backup'), { ...options, chainId: 7 })
    expect(engine.ledger!.chainId).toBe(7n)
    await expect(ingest(engine, bed.at('backup'))).rejects.toThrow(
      `the source has chain ${SYNTHETIC_CHAIN_ID}, but the store holds chain 7`,
    )
  })
})

describe('signatures of validators', () => {
  const signed = new SyntheticChain({ blocks: 60, signers: true })
  const endings = madeEndings(Number(signed.epoch) + 1)
  const [genesis] = endings
  const waypoint = `${genesis!.version}:${waypointHash(genesis!)}`
  const power = validatorsOf(Number(signed.epoch)).reduce((sum, one) => sum + one.power, 0n)
  const signedRange = (engine: StateEngine) => decodeCommitMark(engine.mark).signed
  const range = (version: bigint) => ({
    version,
    waypoint,
    epoch: signed.epoch,
    power: { signed: power, total: power },
  })

  function writeSigned(name: string): string {
    const root = bed.at(name)
    const snapshot = writeBackup(signed, root, { snapshot: { version: SNAPSHOT, chunk: 20 } })
    writeEndings(root, endings.map(signedLedgerInfo))
    return snapshot
  }

  it('are kept with the newest version that they cover, and the next run continues from there without a waypoint', async () => {
    writeSigned('backup')
    const engine = await bed.open('store')
    await ingest(engine, bed.at('backup'), { waypoints: [waypoint], to: 50n })
    expect(signedRange(engine)).toMatchObject(range(50n))
    await ingest(engine, bed.at('backup'))
    expect(signedRange(engine)).toMatchObject(range(signed.latestVersion))
  })

  it('cover a state snapshot, and the versions after it', async () => {
    const snapshot = writeSigned('backup')
    const engine = await bed.open('store')
    await ingest(engine, snapshot, { waypoints: [waypoint] })
    expect(signedRange(engine)).toMatchObject(range(BigInt(SNAPSHOT)))
    await ingest(engine, bed.at('backup'))
    expect(signedRange(engine)).toMatchObject(range(signed.latestVersion))
  })

  it('stay where they are when an unsigned source continues', async () => {
    writeSigned('backup')
    const engine = await bed.open('store')
    await ingest(engine, bed.at('backup'), { waypoints: [waypoint], to: 50n })
    await ingest(engine, bed.at('backup'), { unsigned: true })
    expect(engine.ledger!.latestVersion).toBe(signed.latestVersion)
    expect(signedRange(engine)).toMatchObject(range(50n))
  })

  it('must cover the versions that a store continues with, and nothing of it is committed without them', async () => {
    writeSigned('backup')
    writeBackup(new SyntheticChain({ blocks: 60, signers: validatorsOf(1) }), bed.at('forged'))
    writeEndings(bed.at('forged'), endings.map(signedLedgerInfo))
    const engine = await bed.open('store')
    await ingest(engine, bed.at('backup'), { waypoints: [waypoint], to: 50n })
    await expect(ingest(engine, bed.at('forged'))).rejects.toMatchObject({ code: 'untrusted' })
    expect(heldVersions(engine)).toEqual([0n, 50n])
    const empty = await bed.open('empty')
    await expect(ingest(empty, bed.at('forged'), { waypoints: [waypoint] })).rejects.toMatchObject({
      code: 'untrusted',
    })
    expect(empty.ledger).toBeUndefined()
  })
})

describe('batches', () => {
  /** Ingests records, and returns the versions with which commits ended, and the marks of those commits. */
  async function commitsOf(records: readonly VersionWrites[], options: IngestOptions = {}) {
    const engine = await bed.open('store')
    const ends: bigint[] = []
    const observer = {
      onCommit: () => {
        ends.push(engine.ledger!.latestVersion)
        expect(Buffer.from(decodeCommitMark(engine.mark).source!)).toEqual(markOf(engine.ledger!.latestVersion))
      },
      onSourceProgress() {},
      onPrune() {},
    }
    const counters = await ingestSource(engine, listedSource(records), { ...options, observer })
    return { ends, counters, engine }
  }

  it('end with the block that fills them', async () => {
    const { ends, counters } = await commitsOf(listedBlocks([700, 700, 700, 300, 5]))
    expect(ends).toEqual([1_399n, 2_399n, 2_404n])
    expect(counters).toMatchObject({ versions: 2_405, writes: 2_405, latestVersion: 2_404n })
  })

  it('end within a block that is longer than eight of them', async () => {
    expect((await commitsOf(listedBlocks([10, 9_000, 10]))).ends).toEqual([7_999n, 9_009n, 9_019n])
  })

  it('are full by their bytes, too', async () => {
    const megabytes = 1_000_000
    expect((await commitsOf(listedBlocks(Array(20).fill(2), 0n, megabytes))).ends).toEqual([17n, 35n, 39n])
  })

  it('end with a whole block when the ingest is stopped at any version', async () => {
    let rounds = 0
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(lengths, fc.nat(), async (blocks, at) => {
        const records = listedBlocks(blocks)
        const stopAt = BigInt(at % records.length)
        const engine = await bed.open(`stopped ${rounds++}`)
        const stop = new AbortController()
        const onVersion = (version: bigint) => version === stopAt && stop.abort()
        await ingestSource(engine, listedSource(records, { onVersion }), { signal: stop.signal })
        const { latestVersion } = engine.ledger!
        expect(engine.blockAt(latestVersion).lastVersion).toBe(latestVersion)
        expect(
          records[Number(latestVersion) + 1]?.block !== undefined || latestVersion === BigInt(records.length - 1),
        ).toBe(true)
        expect(latestVersion).toBeGreaterThanOrEqual(stopAt)
        expect(latestVersion).toBeLessThan(stopAt + 40n)
        expect(Buffer.from(decodeCommitMark(engine.mark).source!)).toEqual(markOf(latestVersion))
        await ingestSource(engine, listedSource(records))
        expect(engine.ledger!.latestVersion).toBe(BigInt(records.length - 1))
      }),
      { numRuns: 30 },
    )
  })

  it('of a node end with a whole block, too, although it has to be asked for the rest', async () => {
    const node = await startStandInNode(chain)
    try {
      // The first page begins with the newest version of the store, and ends in the middle of a block.
      const engine = await bed.open('store')
      await ingest(engine, node.url, { to: 1n })
      const pageEnd = 100
      expect(chain.expected[pageEnd + 1]!.block).toBeUndefined()
      const source = await openSource(node.url, { thread: false, follow: true })
      const stop = new AbortController()
      const stopping = overriding(source, {
        async *versions(reading: Reading) {
          for await (const record of source.versions(reading)) {
            if (record.version === BigInt(pageEnd)) stop.abort()
            yield record
          }
        },
      })
      await ingestSource(engine, stopping, { signal: stop.signal })
      await source.close()
      const { latestVersion } = engine.ledger!
      expect(chain.expected[Number(latestVersion) + 1]!.block).toBeDefined()
    } finally {
      await node.close()
    }
  })
})

describe('a stop while the node does not answer', () => {
  it('commits the versions read so far, although they are a part of a block', async () => {
    const node = await startStandInNode(chain)
    try {
      const engine = await bed.open('store')
      await ingest(engine, node.url, { to: 1n })
      const stop = new AbortController()
      const source = await openSource(node.url, { thread: false, follow: true, onNotice: () => stop.abort() })
      const unavailable: StandInNode['faults'][number] = (_, response) => sendError(response, 503, 'internal_error')
      const failing = overriding(source, {
        async *versions(reading: Reading) {
          for await (const record of source.versions(reading)) {
            if (record.version === 1n) node.faults.push(...Array(100).fill(unavailable))
            yield record
          }
        },
      })
      await ingestSource(engine, failing, { signal: stop.signal })
      await source.close()
      expect(heldVersions(engine)).toEqual([0n, 100n])
      expect(chain.expected[101]!.block).toBeUndefined()
    } finally {
      await node.close()
    }
  })
})

describe('a window', () => {
  it('is pruned to between commits, in turns, and is reached even if it was made smaller', async () => {
    const records = listedBlocks(Array(400).fill(20))
    // Pruning drops the writes that were merged together from the file, and counts them.
    const engine = await bed.open('store', { memtableBytes: 0 })
    await ingestSource(engine, listedSource(records), { to: 4_999n })
    expect(heldVersions(engine)).toEqual([0n, 4_999n])
    const turns: number[] = []
    const observer = {
      onCommit() {},
      onSourceProgress() {},
      onPrune: ({ entries }: { readonly entries: number }) => turns.push(entries),
    }
    await ingestSource(engine, listedSource(records), { retain: 100n, observer })
    expect(heldVersions(engine)).toEqual([7_900n, 7_999n])
    expect(turns.length).toBeGreaterThan(2)
    const left = engine.stats.mergedWrites - engine.stats.keys
    expect(turns.reduce((sum, entries) => sum + entries) + left).toBe(8_000 - 50)
    // Versions that were merged together are pruned together, so all of the last batch is left.
    expect(left).toBeLessThanOrEqual(1_000)
    expect([...engine.at(7_900n).scan(Buffer.from('key'))].length).toBe(50)
  })

  it('moves with versions that write nothing', async () => {
    const engine = await bed.open('store')
    const records = listedBlocks(Array(20).fill(1))
    const empty = records.map((record, at) => (at < 10 ? record : { ...record, writes: [] }))
    await ingestSource(engine, listedSource(empty.slice(0, 10)), { retain: 5n })
    await ingestSource(engine, listedSource(empty), { retain: 5n })
    expect(heldVersions(engine)).toEqual([15n, 19n])
  })
})

describe('errors of an ingest', () => {
  it('are LedgerStateErrors, whatever the source', async () => {
    writeBackup(chain, bed.at('backup'))
    cpSync(bed.at('backup/transaction_0-.ab12'), bed.at('folder'), { recursive: true })
    const engine = await bed.open('store')
    const error = await ingest(engine, bed.at('folder')).catch((thrown: unknown) => thrown)
    expect(isLedgerStateError(error, 'invalid_backup')).toBe(true)
  })
})
