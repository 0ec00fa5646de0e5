import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import type { Write } from '@ledger-state/core'
import { JobThread } from '@ledger-state/core/threads'
import { createMemoryEngine } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it, vi } from 'vitest'
import { expectSoundStore } from '../../testing/killed-writer.ts'
import type { WriterEnd } from '../../testing/merging-writer.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openLmdbStore } from '../lmdb/lmdb-store.js'
import { KeyHash } from '../memtable/key-hash.js'
import { Segment } from '../memtable/segment.js'
import { openStateEngine, type StateEngine } from '../open-state-engine.js'
import { listWalFiles, walFilePath } from '../wal/append-file.js'
import { createMergeThread, type FlushThread } from './merge-threads.js'
import { SharedProgress } from './shared-progress.js'

const SEED = testSeed()
const folder = temporaryFolder()
const SCRIPT = new URL('../../testing/merging-writer.ts', import.meta.url).pathname
const VERSIONS_PER_COMMIT = 30
/** Time limit of tests in which each writer commits some megabytes before it ends. */
const PATIENT = { timeout: isSlowRun ? 1_200_000 : 300_000 }

/** Runs a writer to its end. Returns how it ended, and the last version that it acknowledged. */
async function runWriter(path: string, end: WriterEnd, delayMs: number) {
  const child = spawn(process.execPath, [...SOURCE_OPTIONS, SCRIPT, path, end, String(delayMs)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  return { ended: child.signalCode ?? child.exitCode, last: BigInt(output.split('\n').at(-2)!) }
}

function copyOf(segment: Segment) {
  for (const steps = segment.copyInSteps(undefined); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

function scanAll(engine: Pick<StateEngine, 'at'>, version: bigint): unknown[] {
  return [...engine.at(version).scan(new Uint8Array(0))].map(({ key, value, version: writtenAt }) => [
    Buffer.from(key).toString(),
    Buffer.from(value).toString(),
    writtenAt,
  ])
}

/** Path of the newest WAL file of the store. */
function lastFile(): string {
  return walFilePath(folder.path, listWalFiles(folder.path).at(-1)!)
}

function flipBit(file: string, at: number, bit: number): void {
  const descriptor = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, at)
  byte[0]! ^= 1 << bit
  writeSync(descriptor, byte, 0, 1, at)
  closeSync(descriptor)
}

/** An engine with merged versions (a prune drops most of them), and the thread that merged them. */
async function openMerged() {
  const asks = vi.spyOn(JobThread.prototype, 'run')
  const engine = openStateEngine({ path: folder.path, memtableBytes: 3_600_000 })
  let next = 0
  const commitNext = () => {
    const versions = Array.from({ length: 100 }, () => {
      const writes = Array.from({ length: 20 }, (_, at): Write => [bytes(`key ${at}`), bytes(`${next}`.repeat(100))])
      return record(next, writes, next++)
    })
    return engine.commit(versions, CHAIN)
  }
  const flushes = () => asks.mock.contexts.filter((_, at) => 'copy' in (asks.mock.calls[at]![0] as object))
  while (flushes().length < 3) await commitNext()
  const thread = flushes()[0] as FlushThread
  asks.mockRestore()
  return { engine, thread }
}

describe(`merges in a thread (TEST_SEED=${SEED})`, () => {
  it('are made in the main thread of a program', async () => {
    expect(isMainThread).toBe(true)
    await openStateEngine({ path: folder.path }).close()
    const store = openLmdbStore({ path: folder.path, readOnly: false })
    const thread = createMergeThread('compaction-thread', store, new SharedProgress())!
    const { memory } = await thread.run({ copy: copyOf(new Segment(1, new KeyHash())), file: 1 })
    expect(memory).toBeInstanceOf(ArrayBuffer)
    await thread.close()
    await store.root.close()
  })

  it('are made of the memory of the writer if its file was damaged since it was written', async () => {
    const asks = vi.spyOn(Segment.prototype, 'copyInSteps')
    const engine = openStateEngine({ path: folder.path, memtableBytes: 2_500_000 })
    const random = createRandom(SEED)
    let version = 0
    const commit = () =>
      engine.commit([record(version, [[bytes(`key ${version}`), new Uint8Array(9_000)]], version++)], CHAIN)
    for (const harm of ['a flipped bit', 'no bytes', 'no file']) {
      const before = asks.mock.calls.length
      await commit()
      const { size } = statSync(lastFile())
      while (statSync(lastFile()).size < size + 100_000) await commit()
      const file = lastFile()
      if (harm === 'a flipped bit') flipBit(file, size + random.below(90_000), random.below(8))
      else if (harm === 'no bytes') truncateSync(file, size)
      const isMerged = () => asks.mock.calls.length > before && !existsSync(file)
      while (!isMerged()) {
        await commit()
        // The writer notices that the file to which it appends is gone: it must be sealed first.
        if (harm === 'no file' && lastFile() !== file) rmSync(file, { force: true })
      }
      expect(engine.at().get(bytes(`key ${version - 1}`))?.length).toBe(9_000)
    }
    asks.mockRestore()
    await engine.merge()
    await engine.close()
    const again = openStateEngine({ path: folder.path })
    expect(again.ledger?.latestVersion).toBe(BigInt(version - 1))
    for (let at = 0; at < version; at++) expect(again.at().has(bytes(`key ${at}`))).toBe(true)
    expect((await again.check()).problems).toEqual([])
    await again.close()
  })

  it(
    'say the same as an engine in memory, during commits, prunes, truncations, merges of all, and snapshots',
    PATIENT,
    async () => {
      const asks = vi.spyOn(Segment.prototype, 'copyInSteps')
      const random = createRandom(SEED)
      const open = () => openStateEngine({ path: folder.path, memtableBytes: 3_600_000, compress: 'always' })
      let engine = open()
      const model = createMemoryEngine()
      let next = 0
      for (let round = 0; round < 80; round++) {
        const versions = Array.from({ length: 20 }, () => {
          const numbers = new Set(Array.from({ length: 30 }, () => random.below(3_000)))
          const writes = [...numbers].map((number): Write => {
            const value = random.below(8) === 0 ? null : bytes(`${next} of ${number} `.repeat(random.below(12)))
            return [bytes(`key ${number}`), value]
          })
          return record(next, writes, next++)
        })
        await Promise.all([engine.commit(versions, CHAIN), model.commit(versions, CHAIN)])
        const retained = BigInt(200 + random.below(100))
        if (round % 5 === 2) {
          await Promise.all([engine.prune(retained), model.prune(retained)])
        }
        if (round % 13 === 12) {
          next -= 1 + random.below(300)
          const kept = BigInt(next - 1)
          const oldest = engine.ledger!.oldestVersion
          const version = kept < oldest ? oldest : kept
          next = Number(version) + 1
          await Promise.all([engine.truncateTo(version), model.truncateTo(version)])
        }
        if (round === 20) await engine.snapshot(`${folder.path}/copy`)
        if (round === 25) await engine.merge()
        if (round % 20 === 19) {
          await engine.close()
          engine = open()
        }
      }
      expect(asks).toHaveBeenCalled()
      asks.mockRestore()
      expect(engine.ledger).toEqual(model.ledger)
      const { oldestVersion, latestVersion } = engine.ledger!
      for (const version of [oldestVersion, (oldestVersion + latestVersion) / 2n, latestVersion]) {
        expect(scanAll(engine, version)).toEqual(scanAll(model as never, version))
      }
      expect((await engine.check()).problems).toEqual([])
      await engine.close()
      const copy = openStateEngine({ path: `${folder.path}/copy` })
      expect((await copy.check()).problems).toEqual([])
      await copy.close()
    },
  )

  it('are made on the event loop once the thread has ended', PATIENT, async () => {
    const { engine, thread } = await openMerged()
    await engine.merge()
    await thread.close()
    const pruned = await engine.prune(1n)
    expect(pruned.done).toBe(true)
    expect(pruned.droppedEntries).toBeGreaterThan(0)
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  })

  it('end with the engine: a prune under way is done, or says that the engine is closed', PATIENT, async () => {
    const { engine } = await openMerged()
    const { latestVersion } = engine.ledger!
    const prunes = Array.from({ length: 5 }, (_, at) => engine.prune(BigInt(50 - 10 * at)))
    const ended = Promise.allSettled(prunes)
    await engine.close()
    for (const end of await ended) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'store_closed' })
    }
    const opened = openStateEngine({ path: folder.path })
    expect(opened.ledger).toMatchObject({ latestVersion })
    expect((await opened.check()).problems).toEqual([])
    await opened.close()
  })

  const random = createRandom(SEED)
  const ends: readonly [WriterEnd, ended: number | string][] = [
    ['exit', 3],
    ['throw', 1],
    ['kill', 'SIGKILL'],
    ['close', 3],
  ]
  // Each case starts a process and its thread from sources. The fast run tries two of them, which the seed chooses.
  it.each(isSlowRun ? ends : sampleCases(ends, 2))(
    'end with the program, and lose nothing, when it ends by ‘%s’',
    PATIENT,
    async (end, expected) => {
      for (let round = 0; round < (isSlowRun ? scaledRounds(4) : 1); round++) {
        const { ended, last } = await runWriter(folder.path, end, random.below(400))
        expect(ended).toBe(expected)
        await expectSoundStore(folder.path, last, VERSIONS_PER_COMMIT)
      }
    },
  )
})
