// An ingest of a signed backup that ends early, at any place. The next one continues it, proven and signed.
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource, type Reading, type SourceOptions } from '@ledger-state/feed'
import { startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { decodeCommitMark } from '@ledger-state/records'
import { overriding } from '@ledger-state/testing/overriding'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { IngestOptions } from './ingest-options.js'
import { ingestSource } from './ingest-source.js'

const chain = new SyntheticChain({ blocks: 0, signers: true })
let backup: string
let waypoints: readonly string[]

beforeAll(() => {
  backup = mkdtempSync(join(tmpdir(), 'interrupted-'))
  // The backup grows with its chain, so that ledger infos of chunks lie within epochs: epochs end with each 7th block.
  for (let round = 0, first = 0; round < 4; round++) {
    chain.extend(4)
    writeBackup(chain, backup, { first, chunk: 8, folder: 1, gzip: false })
    first = Number(chain.latestVersion) + 1
  }
  const endings = chain.endings()
  writeEndings(backup, endings.map(signedLedgerInfo), [...endings.keys()])
  waypoints = [`${endings[0]!.version}:${waypointHash(endings[0]!)}`]
})
afterAll(() => rmSync(backup, { recursive: true }))
afterEach(() => vi.unstubAllEnvs())

async function ingest(engine: StateWriter, options: IngestOptions & SourceOptions, stopAt?: bigint): Promise<void> {
  const source = await openSource(backup, { thread: false, ...options })
  const stop = new AbortController()
  const stopping = overriding(source, {
    async *versions(reading: Reading) {
      for await (const record of source.versions(reading)) {
        if (record.version === stopAt) stop.abort()
        yield record
      }
    },
  })
  try {
    await ingestSource(engine, stopAt === undefined ? source : stopping, { signal: stop.signal, ...options })
  } finally {
    await source.close()
  }
}

/** Expects that a store is proven and signed up to its newest version, if it has any. */
function expectSigned(engine: ReturnType<typeof createMemoryEngine>, place: string): void {
  if (!engine.ledger) return
  const { latestVersion: version } = engine.ledger
  const { isUnproven, signed, source } = decodeCommitMark(engine.mark)
  const leaves = source && new DataView(source.buffer, source.byteOffset).getBigUint64(0, true)
  expect({ place, isUnproven, signed: signed?.version, leaves }).toEqual({
    place,
    isUnproven: false,
    signed: version,
    leaves: version + 1n,
  })
}

/** First version of a block in the middle of an epoch. */
const beginOf = ({ expected }: SyntheticChain) => expected.findIndex(({ block }) => block?.height === 9n)

describe('an ingest', () => {
  it('continues, signed, after any file of the backup was missing', async () => {
    const files = readdirSync(backup, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('metadata'))
      .map(({ parentPath, name }) => join(parentPath, name))
    let failures = 0
    const begun = new Set<bigint | undefined>()
    for (const file of files) {
      const engine = createMemoryEngine()
      renameSync(file, `${file}.away`)
      try {
        await ingest(engine, { waypoints })
      } catch {
        failures++
      } finally {
        renameSync(`${file}.away`, file)
      }
      begun.add(engine.ledger?.latestVersion)
      expectSigned(engine, `without ${file}`)
      await ingest(engine, engine.ledger ? {} : { waypoints })
      expectSigned(engine, `after ${file}`)
      expect(engine.ledger!.latestVersion).toBe(chain.latestVersion)
    }
    expect(failures).toBe(files.length)
    expect(begun.size).toBeGreaterThan(5)
  })

  it('continues, signed, after it was stopped at every other version', async () => {
    vi.stubEnv('LEDGER_STATE_BATCH_VERSIONS', '2')
    for (let version = 0n; version <= chain.latestVersion; version += 2n) {
      const engine = createMemoryEngine()
      await ingest(engine, { waypoints }, version)
      expectSigned(engine, `stopped at ${version}`)
      await ingest(engine, {})
      expectSigned(engine, `after ${version}`)
      expect(engine.ledger!.latestVersion).toBe(chain.latestVersion)
    }
  })
  it('commits nothing with the mark of a version that it could not take', async () => {
    const source = await openSource(backup, { thread: false, waypoints })
    const failing = overriding(source, {
      async *versions(reading: Reading) {
        for await (const record of source.versions(reading)) {
          const readWhole = () => {
            throw new Error('unreadable')
          }
          yield record.version === 20n ? { ...record, readWhole } : record
        }
      },
    })
    const engine = createMemoryEngine()
    const reading = ingestSource(engine, failing, { keepTransactions: 'whole' })
    await expect(reading).rejects.toThrow('unreadable')
    await source.close()
    expectSigned(engine, 'before the version')
    await ingest(engine, { waypoints })
    expectSigned(engine, 'after the version')
    expect(engine.ledger!.latestVersion).toBe(chain.latestVersion)
  })

  it('to a time lets a node that is followed then prove the next version', async () => {
    const next = beginOf(chain)
    const timeUsec = chain.expected[next]!.block!.timestampUsec - 1n
    const window = { since: { version: 0n }, to: { timeUsec }, words: 'all' }
    const engine = createMemoryEngine()
    await ingest(engine, { waypoints, window })
    expectSigned(engine, 'up to the time')
    expect(engine.ledger!.latestVersion).toBe(BigInt(next) - 1n)

    // The node invents the next version. All its roots are the ledger's.
    const other = new SyntheticChain({ blocks: 10, seed: 5 })
    const records = chain.records.with(next, other.records[beginOf(other)]!)
    const node = await startStandInNode(overriding(chain, { records }))
    const source = await openSource(node.url, { thread: false })
    try {
      await expect(ingestSource(engine, source)).rejects.toMatchObject({ code: 'ledger_fork' })
    } finally {
      await source.close()
      await node.close()
    }
    expect(engine.ledger!.latestVersion).toBe(BigInt(next) - 1n)
  })
})
