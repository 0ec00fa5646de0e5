// Random histories of an engine, held against the plain one in memory after every step. Used by the tests of
// packages/state-engine and, for longer, by `pnpm fuzz engine`.
import assert from 'node:assert/strict'
import { isLedgerStateError, U64_MAX, type VersionWrites } from '@ledger-state/core'
import fc from 'fast-check'
import type { StateEngine } from '../src/open-state-engine.ts'
import type { StateWriter } from '../src/port/ports.ts'

type FailurePoint = import('../src/write/failure-points.ts').FailurePoint

export interface HistoryParts {
  createModel(): StateWriter
  /** Opens the one store of the history; again after it was closed. */
  open(): StateEngine
  setFailurePointHandler(handler: ((point: FailurePoint) => void) | undefined): void
  /** Values to choose from besides generated ones. */
  readonly values?: readonly Uint8Array[]
}

const CHAIN = { chainId: 7 }
const text = (value: string) => Uint8Array.from(Buffer.from(value))

/** Awkward on purpose: empty, prefixes of each other, around and above LMDB's limit with a common beginning. */
const KEYS = [
  new Uint8Array(0),
  text('a'),
  text('ab'),
  text('b'),
  Uint8Array.of(255),
  new Uint8Array(1_900).fill(97),
  new Uint8Array(1_901).fill(97),
  ...[98, 99, 100].map((last) => Uint8Array.from({ length: 5_000 }, (_, at) => (at < 4_999 ? 97 : last))),
]
const PREFIXES = [KEYS[0]!, KEYS[1]!, KEYS[2]!, Uint8Array.of(255), new Uint8Array(1_950).fill(97)]
/** Around the lengths at which a value moves out of its record, and into another page. */
const LENGTHS = [0, 1, 12, 1_400, 1_401, 3_700, 3_701, 4_068, 4_069, 9_000]
const ABORTS: readonly FailurePoint[] = [
  'commit: began',
  'commit: log written',
  'commit: latest written',
  'commit: before the transaction ends',
  'prune: floor raised',
  'prune: step before the transaction ends',
]

class History {
  readonly model: StateWriter
  readonly parts: HistoryParts
  engine: StateEngine
  next: bigint
  height = 0n

  constructor(parts: HistoryParts, base: bigint) {
    this.parts = parts
    this.model = parts.createModel()
    this.engine = parts.open()
    this.next = base
  }

  get ended(): boolean {
    return this.next > U64_MAX
  }

  batch(versions: readonly { writes: readonly (readonly [number, Uint8Array | null])[]; begins: boolean }[]) {
    return versions.flatMap(({ writes, begins }): VersionWrites[] => {
      if (this.ended) return []
      const version = this.next++
      const isFirst = !this.model.ledger && this.height === 0n
      const height = begins || isFirst ? this.height++ : undefined
      const block = height === undefined ? undefined : { height, epoch: height >> 2n, timestampUsec: height }
      return [{ version, block, writes: writes.map(([key, value]) => [KEYS[key]!, value] as const) }]
    })
  }
}

type Command = fc.AsyncCommand<{ started: boolean }, History>

function command(name: string, run: (history: History) => Promise<void> | void): Command {
  return {
    check: () => true,
    async run(_, history) {
      await run(history)
    },
    toString: () => name,
  }
}

function answer(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error)) return error.code
    throw error
  }
}

function plain(bytes: Uint8Array | null | undefined): string | null | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** The same question to both, and one answer. */
function compare(history: History, ask: (engine: StateWriter) => unknown): void {
  assert.deepEqual(
    answer(() => ask(history.engine)),
    answer(() => ask(history.model)),
  )
}

function compareReads(history: History, version: bigint): void {
  compare(history, (engine) => {
    const view = engine.at(version)
    return KEYS.map((key) => {
      const entry = view.getEntry(key)
      return entry && [entry.version, plain(entry.value)]
    })
  })
}

/** Histories of up to `maxSteps` steps as a property of fast-check. */
function engineHistories(parts: () => HistoryParts, close: () => void, maxSteps = 10) {
  const length = fc.constantFrom(...LENGTHS)
  const given = parts().values ?? []
  const bytes = fc.oneof(
    { weight: 4, arbitrary: fc.uint8Array({ maxLength: 12 }) },
    { weight: 1, arbitrary: fc.tuple(length, fc.nat(255)).map(([count, byte]) => new Uint8Array(count).fill(byte)) },
    ...(given.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...given) }] : []),
  )
  const value = fc.option(bytes, { freq: 4, nil: null })
  const key = fc.nat(KEYS.length - 1)
  const writes = fc.uniqueArray(fc.tuple(key, value), { selector: ([at]) => at, maxLength: 4 })
  const versions = fc.array(fc.record({ writes, begins: fc.boolean() }), { minLength: 1, maxLength: 6 })
  const place = fc.nat(1_000)

  /** A version in or around the window. */
  const versionAt = (history: History, share: number): bigint => {
    const { oldestVersion, latestVersion } = history.model.ledger ?? { oldestVersion: 1n, latestVersion: 1n }
    const low = oldestVersion === 0n ? 0n : oldestVersion - 1n
    const version = low + ((latestVersion + 2n - low) * BigInt(share)) / 1_000n
    return version > U64_MAX ? U64_MAX : version
  }
  const commit = async (history: History, batch: readonly VersionWrites[]) => {
    await history.model.commit(batch, CHAIN)
    await history.engine.commit(batch, CHAIN)
    assert.deepEqual(history.engine.ledger, history.model.ledger)
  }
  const prune = async (history: History, retain: number) => {
    if (!history.model.ledger) return
    const expected = await history.model.prune(BigInt(retain))
    assert.deepEqual((await history.engine.prune(BigInt(retain))).oldestVersion, expected.oldestVersion)
  }
  const commands = [
    versions.map((chosen) => command('commit', (history) => commit(history, history.batch(chosen)))),
    versions.map((chosen) => command('commit', (history) => commit(history, history.batch(chosen)))),
    // One key many times, so that its versions go over into the index.
    fc
      .record({ at: key, count: fc.integer({ min: 20, max: 700 }), every: fc.nat(2), deletes: fc.boolean() })
      .map(({ at, count, every, deletes }) =>
        command('burst', (history) => {
          const burst = Array.from({ length: count }, (_, number) => ({
            writes: number % (every + 1) === 0 ? [[at, text(`${number}`)] as const] : [],
            begins: number % 20 === 0,
          }))
          if (deletes) burst.push({ writes: [[at, null] as never], begins: true })
          return commit(history, history.batch(burst))
        }),
      ),
    fc.array(place, { minLength: 3, maxLength: 3 }).map((places) =>
      command('read', (history) => {
        for (const share of places) compareReads(history, versionAt(history, share))
      }),
    ),
    fc.tuple(place, fc.constantFrom(...PREFIXES)).map(([share, prefix]) =>
      command('scan', (history) => {
        const version = versionAt(history, share)
        compare(history, (engine) =>
          [...engine.at(version).scan(prefix)].map((entry) => [plain(entry.key), entry.version, plain(entry.value)]),
        )
      }),
    ),
    fc.tuple(place, key).map(([share, at]) =>
      command('history', (history) => {
        compare(history, (engine) =>
          [...engine.history(KEYS[at]!)].map((revision) => [revision.version, plain(revision.value)]),
        )
        const version = versionAt(history, share)
        compare(history, (engine) => engine.blockAt(version))
      }),
    ),
    place.map((share) =>
      command('versions', (history) => {
        const first = versionAt(history, share)
        const latest = history.model.ledger?.latestVersion ?? 0n
        const last = first + 40n < latest ? first + 40n : latest
        compare(history, (engine) =>
          [...engine.versions(first, last)].map(({ version, block, writes }) => [
            version,
            block,
            writes.map(([key, value]) => [plain(key), plain(value)]),
          ]),
        )
      }),
    ),
    fc.constantFrom(1, 2, 5, 40).map((retain) => command(`prune ${retain}`, (history) => prune(history, retain))),
    fc.integer({ min: 1, max: 900 }).map((retain) => command(`prune ${retain}`, (history) => prune(history, retain))),
    fc.constant(
      command('reopen', async (history) => {
        await history.engine.close()
        history.engine = history.parts.open()
        assert.deepEqual(history.engine.ledger, history.model.ledger)
      }),
    ),
    fc.constant(
      command('check', async (history) => {
        assert.deepEqual((await history.engine.check()).problems, [])
      }),
    ),
    // Work that is cut short inside its transaction leaves the store as it was.
    fc.tuple(versions, fc.constantFrom(...ABORTS), fc.integer({ min: 1, max: 40 })).map(([chosen, abortAt, retain]) =>
      command(`abort at ${abortAt}`, async (history) => {
        const { next, height } = history
        const batch = history.batch(chosen)
        Object.assign(history, { next, height })
        const aborted = new Error('aborted by the test')
        history.parts.setFailurePointHandler((point) => {
          if (point === abortAt) throw aborted
        })
        try {
          if (abortAt.startsWith('commit')) await history.engine.commit(batch, CHAIN)
          else if (history.model.ledger) await history.engine.prune(BigInt(retain))
        } catch (error) {
          assert.equal((error as Error).cause, aborted)
        } finally {
          history.parts.setFailurePointHandler(undefined)
        }
        // The floor may have been raised before a step of the prune failed; then the model follows.
        const { oldestVersion } = history.engine.ledger ?? {}
        if (oldestVersion !== history.model.ledger?.oldestVersion) await prune(history, retain)
        assert.deepEqual(history.engine.ledger, history.model.ledger)
      }),
    ),
  ]
  return fc.asyncProperty(
    fc.commands(commands, { maxCommands: maxSteps, size: 'max' }),
    fc.constantFrom(0n, 5n, 2n ** 32n - 20n, U64_MAX - 1_500n),
    async (steps, base) => {
      const history = new History(parts(), base)
      try {
        await fc.asyncModelRun(() => ({ model: { started: true }, real: history }), steps)
        for (const share of [0, 100, 500, 900, 1_000]) compareReads(history, versionAt(history, share))
        assert.deepEqual((await history.engine.check()).problems, [])
      } finally {
        await history.engine.close()
        close()
      }
    },
  )
}

/** Runs so many histories; throws at the first that differs, with what makes it again. */
export async function runHistories(
  parts: () => HistoryParts,
  close: () => void,
  count: number,
  seed?: number,
): Promise<void> {
  await fc.assert(engineHistories(parts, close), { numRuns: count, ...(seed !== undefined && { seed }) })
}
