// Kills, and disks that are full, at each call that changes a file while segment files are joined, pushed and fetched.
import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSharedFiles, openSource } from '@ledger-state/feed'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { ingestSource } from '@ledger-state/ingest'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { hasFaultyDisk } from '@ledger-state/state-engine/testing/disk-faults/disk-faults'
import { compileDiskStops, type DiskStop } from '@ledger-state/state-engine/testing/disk-faults/disk-stops'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest'
import { pushSegments } from './push-segments.js'
import { verifySegments } from './verify-segments.js'

/** Calls that work is stopped at, one in each part of it. */
const STOPS = scaledRounds(8)

describe.skipIf(!hasFaultyDisk())('stopped at any call that changes a file (needs gcc)', () => {
  let folder: string
  let script: string
  let run: ReturnType<typeof compileDiskStops>
  let whole: unknown
  const at = (name: string) => join(folder, name)

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stops-'))
    run = compileDiskStops(folder)
    script = fileURLToPath(new URL('../../testing/segment-program.ts', import.meta.url))
    const chain = new SyntheticChain({ blocks: 24, signers: true })
    writeBackup(chain, at('backup'), { chunk: 20 })
    writeEndings(at('backup'), chain.endings().map(signedLedgerInfo))
    const fill = async (path: string, range?: { from: bigint; to: bigint }) => {
      const engine = openStateEngine({ path, durability: 'none', part: range !== undefined })
      const waypoints = [`0:${waypointHash(chain.endings()[0]!)}`]
      const source = await openSource(at('backup'), { thread: false, waypoints })
      await ingestSource(engine, source, { chainId: SYNTHETIC_CHAIN_ID, range, holdings: false })
      await source.close()
      if (range) await engine.compact()
      await engine.close()
    }
    await fill(at('a'), { from: 0n, to: 29n })
    await fill(at('b'), { from: 30n, to: chain.latestVersion })
    await fill(at('whole'))
    whole = answersOf(at('whole'))
    await pushSegments(at('whole'), at('shared'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function answersOf(path: string): unknown {
    const engine = openStateEngineReader({ path, verifyReads: true })
    const { ledger } = engine
    const rows = [10n, 40n, ledger!.latestVersion].map((version) =>
      [...engine.at(version).scan(Uint8Array.of(0))].map(({ key, value }) => [Buffer.from(key), Buffer.from(value)]),
    )
    void engine.close()
    return { ledger, rows }
  }

  /** Numbers of calls to stop at, each at random in its part. */
  function stopsOf(calls: number): number[] {
    const random = createRandom(testSeed())
    const length = Math.ceil(calls / STOPS)
    return Array.from({ length: STOPS }, (_, part) => 1 + Math.min(calls - 1, part * length + random.below(length)))
  }

  function stopEach(
    work: readonly string[],
    root: string,
    { begin, expectLeft, expectDone }: { begin(): void; expectLeft(how: DiskStop['how']): void; expectDone(): void },
  ) {
    onTestFailed(() => console.error(`TEST_SEED=${testSeed()} repeats the calls of this test`))
    begin()
    const { calls, stdout } = run(script, work, root)
    expect(stdout).toBe('done')
    expect(calls).toBeGreaterThan(40)
    for (const at of stopsOf(calls)) {
      for (const how of ['kill', 'full'] as const) {
        begin()
        const stopped = run(script, work, root, { how, at })
        const why = `${how} at call ${at} of ${calls}: ${JSON.stringify(stopped)}`
        try {
          if (how === 'kill') expect(stopped.signal).toBe('SIGKILL')
          // A call that needs no room may be the last one.
          else expect(stopped.stdout).toMatch(/^(store_full: |done$)/)
          expectLeft(how)
          // The same command completes, or says that the store is there.
          expect(run(script, work, root).stdout).toMatch(/^(done$|store_not_empty: )/)
          expectDone()
        } catch (error) {
          throw new Error(why, { cause: error })
        }
      }
    }
  }

  const emptyRoot = (root: string) => {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(root)
  }
  const expectWholeOrNone = (out: string) => {
    if (existsSync(out)) expect(answersOf(out)).toEqual(whole)
  }
  const timeout = 600_000

  it('join leaves no store or the joined one, and its inputs as they were', { timeout }, () => {
    const inputs = () =>
      ['a', 'b'].flatMap((name) => {
        const files = readdirSync(at(name)).filter((file) => !file.includes('lock'))
        return files.map((file) => [file, hash('sha256', readFileSync(join(at(name), file)))])
      })
    const before = inputs()
    const out = at('join/out')
    stopEach(['join', out, at('b'), at('a')], at('join'), {
      begin: () => emptyRoot(at('join')),
      expectLeft: () => expectWholeOrNone(out),
      expectDone: () => {
        expect(answersOf(out)).toEqual(whole)
        expect(readdirSync(at('join'))).toEqual(['out'])
        expect(inputs()).toEqual(before)
      },
    })
  })

  it('fetch leaves no store or the fetched one', { timeout }, () => {
    const out = at('fetch/out')
    stopEach(['fetch', out, at('shared')], at('fetch'), {
      begin: () => emptyRoot(at('fetch')),
      expectLeft: () => expectWholeOrNone(out),
      expectDone: () => {
        expect(answersOf(out)).toEqual(whole)
        expect(readdirSync(at('fetch'))).toEqual(['out'])
      },
    })
  })

  it('push leaves the manifest before or the new one, and files that it names', { timeout }, async () => {
    const root = at('push')
    const target = join(root, 'shared')
    const earlier = at('earlier')
    await pushSegments(at('a'), earlier)
    const manifests = new Set([readFileSync(join(earlier, 'segments.json'), 'utf8')])
    manifests.add(readFileSync(join(at('shared'), 'segments.json'), 'utf8'))
    stopEach(['push', target, at('whole')], root, {
      begin: () => {
        emptyRoot(root)
        cpSync(earlier, target, { recursive: true })
      },
      expectLeft: () => {
        const text = readFileSync(join(target, 'segments.json'), 'utf8')
        expect([...manifests]).toContain(text)
        for (const [name] of text.matchAll(/segment-[0-9a-f]{64}/g)) expect(existsSync(join(target, name))).toBe(true)
      },
      expectDone: () => {
        expect(readFileSync(join(target, 'segments.json'), 'utf8')).toBe(
          readFileSync(join(at('shared'), 'segments.json'), 'utf8'),
        )
        expect(readdirSync(target).filter((name) => !/^segment-[0-9a-f]{64}$|^segments\.json$/.test(name))).toEqual([])
      },
    })
    await verifySegments(openSharedFiles(target))
  })
})
