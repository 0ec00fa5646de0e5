import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { branchOf, type LedgerSummary } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { beforeAll, describe, expect, it } from 'vitest'
import { Actor } from '../testing/one-state/actor.ts'
import type { Command } from '../testing/one-state/actor-protocol.ts'
import { computeReports, isOfOneState } from '../testing/one-state/expected-reports.ts'
import { SMALL_TABLE } from '../testing/one-state/program.ts'
import { reportOf } from '../testing/one-state/report.ts'
import { CHAIN, record } from '../testing/small-records.ts'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'

const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const SEED = testSeed()
const TABLES = [0, SMALL_TABLE]
const AT_CALLS = { stopsAtSystemCalls: true }
const AT_POINTS = { stopsAtSystemCalls: false }
const TIMEOUT = { timeout: isSlowRun ? 1_800_000 : 120_000 }

beforeAll(computeReports)

/** A store, the writer that runs the program on it, and several readers of it in other threads. */
interface Scene {
  readonly path: string
  readonly writer: Actor
  readonly readers: readonly Actor[]
}

/** Runs the program, beginning with its second operation. The director decides when the writer and its readers continue. */
async function direct(
  memtableBytes: number,
  readers: readonly { readonly stopsAtSystemCalls: boolean }[],
  work: (scene: Scene) => void | Promise<void>,
): Promise<void> {
  const path = mkdtempSync(join(ROOT, 'one-state-'))
  const scene = { path, writer: new Actor(AT_CALLS), readers: readers.map((options) => new Actor(options)) }
  try {
    scene.writer.begin({ kind: 'write', path: join(path, 'store'), memtableBytes }, 1)
    while (scene.writer.ops.done === 0) scene.writer.go(1)
    for (const reader of scene.readers) reader.run({ kind: 'open', path: join(path, 'store') })
    await work(scene)
    scene.writer.result()
    for (const reader of scene.readers) reader.run({ kind: 'close' })
  } finally {
    for (const actor of [...scene.readers, scene.writer]) await actor.end()
    rmSync(path, { recursive: true })
  }
}

/** A reader that is stopped in the middle of a command while the writer continues. */
class Delayed {
  readonly #reader: Actor
  readonly #writer: Actor
  #since = 0

  constructor(reader: Actor, writer: Actor) {
    this.#reader = reader
    this.#writer = writer
  }

  get isIdle(): boolean {
    return this.#reader.isIdle
  }

  begin(command: Command, steps: number): void {
    this.#since = this.#writer.ops.done
    this.#reader.begin(command, steps)
  }

  go(steps?: number): void {
    this.#reader.go(steps)
  }

  /** Finishes the command. Returns its value, and the operations of the writer between which it was done. */
  finish<T>(): { readonly value: T; readonly first: number; readonly last: number } {
    if (!this.isIdle) this.go()
    return { value: this.#reader.result<T>(), first: this.#since, last: this.#writer.ops.begun }
  }

  expectReport(when: string): void {
    const { value, first, last } = this.finish<string>()
    const isRight = isOfOneState(value, first, last)
    expect(isRight, `${when}: after operation ${first} to ${last}, a reader said ${value}`).toBe(true)
  }
}

describe('readers that are stopped at any of their steps while the writer continues', () => {
  /** A reader for each step: the steps before it belong to its snapshot, and some come while it reads. */
  const stops = isSlowRun ? Array.from({ length: 12 }, (_, at) => 2 * at + 1 + (SEED % 2)) : [1, 2, 3, 5, 8]
  const lengths = isSlowRun ? Array.from({ length: scaledRounds(2) }, (_, at) => 100 * at + 3 + (SEED % 100)) : [89]

  it.each(TABLES)(
    'give the state of the store at one moment, with a memtable of %s bytes',
    TIMEOUT,
    async (memtable) => {
      const random = createRandom(SEED)
      for (const length of lengths) {
        const offset = random.below(length)
        await direct(
          memtable,
          stops.map(() => AT_CALLS),
          ({ writer, readers }) => {
            const delayed = readers.map((reader) => new Delayed(reader, writer))
            const when = (place: number) => `stopped at step ${stops[place]} for ${length} steps, TEST_SEED=${SEED}`
            for (let at = 0; !writer.isIdle; at++) {
              if (at % length === offset) {
                for (const [place, one] of delayed.entries()) {
                  if (at >= length) one.expectReport(when(place))
                  one.begin({ kind: 'report' }, stops[place]!)
                }
              }
              writer.go(1)
            }
            for (const [place, one] of delayed.entries()) one.expectReport(when(place))
          },
        )
      }
    },
  )

  it.each(TABLES)('say the same if all continue by turns, with a memtable of %s bytes', TIMEOUT, async (memtable) => {
    const random = createRandom(SEED)
    for (let round = 0; round < (isSlowRun ? scaledRounds(6) : 1); round++) {
      await direct(memtable, [AT_CALLS, AT_CALLS, AT_CALLS], ({ writer, readers }) => {
        const delayed = readers.map((reader) => new Delayed(reader, writer))
        for (const one of delayed) one.begin({ kind: 'report' }, 1)
        while (!writer.isIdle) {
          const one = random.pick(delayed)
          if (one.isIdle) {
            one.expectReport(`TEST_SEED=${SEED}`)
            one.begin({ kind: 'report' }, 1 + random.below(15))
          } else one.go(1 + random.below(15))
          writer.go(1 + random.below(random.below(4) === 0 ? 60 : 6))
        }
        for (const one of delayed) one.expectReport(`TEST_SEED=${SEED}`)
      })
    }
  })
})

describe('a snapshot on disk', () => {
  /** Numbers of steps of the writer between two steps of the reader. */
  const lengths = isSlowRun ? Array.from({ length: scaledRounds(2) }, (_, at) => 108 * at + 7 + (SEED % 108)) : [167]
  const stops = [1, 2, 3]

  it.each(TABLES)('holds one state, wherever it is stopped, with a memtable of %s bytes', TIMEOUT, async (memtable) => {
    const random = createRandom(SEED)
    for (const length of lengths) {
      const offset = random.below(length)
      await direct(
        memtable,
        [...stops, 0].map(() => AT_POINTS),
        async ({ path, writer, readers }) => {
          const delayed = readers.map((reader) => new Delayed(reader, writer))
          const copies = delayed.map((_, place) => join(path, `copy ${place}`))
          const finishAll = async () => {
            for (const [place, one] of delayed.entries()) {
              if (place < stops.length) await expectCopy(one, copies[place]!)
              else expect(one.finish().value, `TEST_SEED=${SEED}`).toEqual([])
            }
          }
          for (let at = 0; !writer.isIdle; at++) {
            if (at % length === offset) {
              if (at >= length) await finishAll()
              for (const [place, one] of delayed.entries()) {
                const path = copies[place]!
                if (place < stops.length) one.begin({ kind: 'snapshot', path, compact: at % 2 === 1 }, stops[place]!)
                else one.begin({ kind: 'check' }, 1 + random.below(2))
              }
            }
            writer.go(1)
          }
          await finishAll()
        },
      )
    }
  })

  async function expectCopy(delayed: Delayed, path: string): Promise<void> {
    const { first, last } = delayed.finish()
    const isRight = (report: string) =>
      expect(
        isOfOneState(report, first, last),
        `after operation ${first} to ${last}, a copy says ${report}, TEST_SEED=${SEED}`,
      ).toBe(true)
    const reader = openStateEngineReader({ path, verifyReads: true })
    isRight(reportOf(reader))
    expect((await reader.check()).problems, `TEST_SEED=${SEED}`).toEqual([])
    await reader.close()
    const engine = openStateEngine({ path, durability: 'none' })
    isRight(reportOf(engine))
    await expectFollows(engine)
    await engine.close()
    rmSync(path, { recursive: true })
  }

  /**
   * Commits a version without writes, which must have the content of the one before, even if a truncation had to be
   * finished first.
   */
  async function expectFollows(engine: ReturnType<typeof openStateEngine>): Promise<void> {
    const { latestVersion, latestBlock } = engine.ledger as LedgerSummary
    const before = [...engine.at().scan(new Uint8Array(0))]
    const branch = branchOf(engine.ledger!)
    await engine.commit([record(latestVersion + 1n, [], Number(latestBlock.height) + 1)], CHAIN)
    expect([...engine.at().scan(new Uint8Array(0))]).toEqual(before)
    expect(branchOf(engine.ledger!)).toBe(branch)
    expect((await engine.check()).problems).toEqual([])
  }
})
