import { JsonNumber } from '@ledger-state/bcs'
import { bytesToHex, isLedgerStateError, type Write } from '@ledger-state/core'
import { engineToAsync, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import { createRandom } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { moduleKey, resourceKey } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PruneMoment, pruneWhileRead } from '../../testing/pruned-state.ts'
import { ownedObject, sliceOf, wholeOf } from '../../testing/random-slices.ts'
import {
  CLOCK_KEY,
  call,
  type Expression,
  GENESIS,
  HELD,
  HOLDERS,
  LIBRARIES,
  PROGRAM,
  randomProgram,
  SECOND,
  u64,
  viewLedger,
} from '../../testing/view-ledger.ts'
import { createAsyncLedger } from '../async/async-ledger.js'
import type { Change } from '../histories/history.js'
import { callView, firstVersionOf, startView, tracedVersions, viewHistory } from '../index.js'
import { createLedger } from '../state/create-ledger.js'
import { ReadTrace } from '../traces/read-trace.js'
import type { ViewAnswer, ViewHistory, ViewHistoryOptions } from './view-history.js'
import type { ViewRequest } from './view-request.js'

const RUNS = { numRuns: isSlowRun ? scaledRounds(400) : 40 }
const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...HOLDERS), fc.option(fc.nat(3), { freq: 3 }))
      .map(([holder, value]): Write => [resourceKey(holder, HELD), value === null ? null : u64(value)]),
  },
  { weight: 1, arbitrary: fc.constantFrom(...LIBRARIES).map((lib): Write => [moduleKey(PROGRAM, 'lib'), lib]) },
  // Bytes that now and then do not decode.
  {
    weight: 1,
    arbitrary: fc.constantFrom(...HOLDERS).map((one): Write => [resourceKey(one, HELD), new Uint8Array(3)]),
  },
)
const ledgers = fc.record({
  first: fc.constantFrom(0n, 7n),
  versions: fc.array(fc.uniqueArray(write, { maxLength: 2, selector: ([key]) => String(key) }), {
    minLength: 1,
    maxLength: 24,
  }),
  retained: fc.bigInt(1n, 30n),
})
const requests = fc.constantFrom(
  call('value', '0xa1'),
  call('either', '0xa1', '0xa2'),
  call('either', '0xa3', '0xa3'),
  call('parity_of_time'),
  call('point'),
  call('value'),
  call('absent'),
)

type Ledger = ReturnType<typeof createLedger>

/** Answer to a caller that asks at a version. */
function askedAt(ledger: Ledger, version: bigint, request: ViewRequest): string {
  try {
    return JSON.stringify(callView(ledger.at(version), request).map((result) => result.toJson()))
  } catch (error) {
    if (isLedgerStateError(error)) return `${error.code} ${error.message}`
    throw error
  }
}

function shown({ value, error }: Change<ViewAnswer>): string {
  return error ? `${error.code} ${error.message}` : JSON.stringify(value.json)
}

interface Seen {
  readonly version: bigint
  readonly answer: string
}

function seenOf(changes: Iterable<Change<ViewAnswer>>): Seen[] {
  return Array.from(changes, (change) => ({ version: change.version, answer: shown(change) }))
}

/** Changes that a slice shows before it reaches one that it does not know. */
function knownOf(changes: Iterable<Change<ViewAnswer>>): (Seen | 'unknown')[] {
  const known: (Seen | 'unknown')[] = []
  try {
    for (const change of changes) known.push({ version: change.version, answer: shown(change) })
  } catch (error) {
    if (!isLedgerStateError(error, 'version_pruned')) throw error
    known.push('unknown')
  }
  return known
}

/** The result of a read, or that it is pruned. */
async function orPruned<T>(read: () => T | Promise<T>): Promise<T | 'pruned'> {
  try {
    return await read()
  } catch (error) {
    if (isLedgerStateError(error, 'version_pruned')) return 'pruned'
    throw error
  }
}

function inPages(list: (options: ViewHistoryOptions) => ViewHistory, options: ViewHistoryOptions): Seen[] {
  const items: Seen[] = []
  for (let start: bigint | undefined; ; ) {
    const page = list({ ...options, start })
    const seen = seenOf(page)
    // A page has a cursor only if another change follows.
    if (options.limit !== undefined && start !== undefined) expect(seen).not.toEqual([])
    items.push(...seen)
    start = page.cursor
    if (start === undefined) return items
  }
}

describe('the history of a view', () => {
  it('agrees with calls of the view at each version of the window', async () => {
    await fc.assert(
      fc.asyncProperty(ledgers, requests, async ({ first, versions, retained }, request) => {
        const engine = await viewLedger(first, versions)
        await engine.prune(retained)
        const ledger = createLedger(engine)
        const { oldestVersion, latestVersion } = ledger.info!
        const history = viewHistory(ledger.at(), request)
        const changes = seenOf(history)
        let before: string | undefined
        for (let version = oldestVersion; version <= latestVersion; version++) {
          const answer = askedAt(createLedger(engine), version, request)
          const newest = changes.find((change) => change.version <= version)
          expect(newest?.answer).toBe(answer)
          if (before !== undefined) expect(newest?.version === version).toBe(answer !== before)
          before = answer
        }
        expect(changes.filter(({ version }) => version <= oldestVersion)).toHaveLength(1)
        expect(history.exact).toBe(true)
      }),
      RUNS,
    )
  })

  it('is exact for random programs, which change on the way, too', async () => {
    const holder = fc.nat(HOLDERS.length - 1)
    const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
      expression: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.record({ kind: fc.constant('number' as const), value: fc.nat(9) }),
        fc.record({ kind: fc.constant('held' as const), holder }),
        fc.record({
          kind: fc.constant('ifHeld' as const),
          holder,
          whereHeld: tie('expression'),
          otherwise: tie('expression'),
        }),
        fc.record({ kind: fc.constant('sum' as const), left: tie('expression'), right: tie('expression') }),
        fc.record({ kind: fc.constant('changed' as const), of: tie('expression') }),
        fc.record({ kind: fc.constant('seconds' as const) }),
        fc.record({ kind: fc.constant('failed' as const), code: fc.nat(3) }),
      ),
    }))
    const request: ViewRequest = { ...call('run'), module: 'random' }
    await fc.assert(
      fc.asyncProperty(ledgers, expression, expression, fc.nat(12), async (ledgerOf, first, second, at) => {
        const versions = ledgerOf.versions.map((writes, index) => {
          if (index === 0) return [...writes, randomProgram(first)]
          return index === at ? [...writes, randomProgram(second)] : writes
        })
        const engine = await viewLedger(ledgerOf.first, versions)
        const ledger = createLedger(engine)
        const { oldestVersion, latestVersion } = ledger.info!
        const expected: Seen[] = []
        for (let version = oldestVersion; version <= latestVersion; version++) {
          const answer = askedAt(createLedger(engine), version, request)
          if (expected.at(-1)?.answer !== answer) expected.push({ version, answer })
        }
        const list = (options: ViewHistoryOptions) => viewHistory(ledger.at(), request, options)
        expect(inPages(list, { order: 'asc', limit: 3 })).toEqual(expected)
        expect(inPages(list, { limit: 3 })).toEqual(expected.toReversed())
      }),
      RUNS,
    )
  })

  it('sees a module that changes while runs do not use it, and settings that change', async () => {
    const [held, other] = [resourceKey(HOLDERS[0]!, HELD), resourceKey(HOLDERS[1]!, HELD)]
    const lib = (at: number): Write => [moduleKey(PROGRAM, 'lib'), LIBRARIES[at]!]
    const engine = await viewLedger(0n, [
      ...[[held, u64(1)] as Write, [other, u64(1)] as Write, [held, null] as Write, lib(1)].map((write) => [write]),
      ...[[held, u64(2)] as Write, [held, null] as Write, lib(2), [held, u64(3)] as Write].map((write) => [write]),
      ...GENESIS.slice(0, 2).map(([key]): Write[] => [[key, null]]),
    ])
    const ledger = createLedger(engine)
    const request = call('either', '0xa1', '0xa2')
    const expected: Seen[] = []
    for (let version = 0n; version <= ledger.info!.latestVersion; version++) {
      const answer = askedAt(createLedger(engine), version, request)
      if (expected.at(-1)?.answer !== answer) expected.push({ version, answer })
    }
    expect(expected).toHaveLength(8)
    for (let time = 0; time < 2; time++) {
      expect(seenOf(viewHistory(ledger.at(), request, { order: 'asc' }))).toEqual(expected)
      expect(seenOf(viewHistory(ledger.at(), request))).toEqual(expected.toReversed())
    }
  })

  it('follows from the reads of a run, and from the versions that wrote their keys', async () => {
    const [held, gone] = [resourceKey(HOLDERS[0]!, HELD), resourceKey(HOLDERS[1]!, HELD)]
    const engine = await viewLedger(0n, [[[held, u64(1)]], [[gone, u64(2)]], [[held, u64(3)]], [[gone, null]]])
    const state = createLedger(engine).at()
    const trace = new ReadTrace()
    const view = startView(state, call('either', '0xa1', '0xa2'), { trace })
    // A run may pause, for example while a module is checked.
    expect(() => {
      while (!view.advance());
    }).toThrow()
    const versions = tracedVersions(state, trace)
    const text = (key: Uint8Array) => bytesToHex(key).slice(2)
    expect([versions.get(text(held)), versions.get(text(gone)), versions.has(text(gone))]).toEqual([
      3n,
      undefined,
      true,
    ])
    expect(versions.get(text(moduleKey(PROGRAM, 'main')))).toBe(0n)
    expect(versions.size).toBe(trace.keys.size)
  })

  it('ends where its first page said, while the ledger grows between its pages', async () => {
    const versions = Array.from({ length: 30 }, (_, at): Write[] => [[resourceKey(HOLDERS[0]!, HELD), u64(at >> 1)]])
    const engine = await viewLedger(0n, versions)
    const ledger = createLedger(engine)
    const request = call('value', '0xa1')
    const latest = ledger.info!.latestVersion
    const expected = seenOf(viewHistory(ledger.at(), request, { order: 'asc' }))
    for (const order of ['asc', 'desc'] as const) {
      const found: Seen[] = []
      for (let start: bigint | undefined; ; ) {
        // Each page pins the version at which the first was read, as the cursor of the interface does.
        const page = viewHistory(createLedger(engine).at(latest), request, { order, start, limit: 4 })
        found.push(...seenOf(page))
        start = page.cursor
        if (start === undefined) break
        const version = engine.ledger!.latestVersion + 1n
        const block = { height: 100n + version, epoch: 0n, timestampUsec: 10n ** 12n + version }
        await engine.commit([{ version, block, writes: [[resourceKey(HOLDERS[0]!, HELD), u64(version)]] }], {
          chainId: 4,
        })
      }
      expect(order === 'asc' ? found : found.toReversed()).toEqual(expected)
    }
  })

  it('is the same in pages of any size, in ascending order, and between any two versions', async () => {
    const version = fc.option(fc.bigInt(0n, 30n), { nil: undefined })
    const range = fc.record({ from: version, to: version, limit: fc.constantFrom(1, 2, 7, 1_000) })
    await fc.assert(
      fc.asyncProperty(
        ledgers,
        requests,
        range,
        async ({ first, versions, retained }, request, { from, to, limit }) => {
          const engine = await viewLedger(first, versions)
          await engine.prune(retained)
          const state = createLedger(engine).at()
          const list = (options: ViewHistoryOptions) => viewHistory(state, request, options)
          const expected = seenOf(list({})).filter((one) => one.version >= (from ?? 0n) && one.version <= (to ?? 100n))
          // The value at the end of the range may be the first value of the window.
          if (to !== undefined && to < state.ledger.oldestVersion) return
          expect(seenOf(list({ from, to }))).toEqual(expected)
          expect(seenOf(list({ from, to, order: 'asc' }))).toEqual(expected.toReversed())
          for (const paged of [{ limit }, { isFull: () => true }]) {
            expect(inPages(list, { from, to, ...paged })).toEqual(expected)
            expect(inPages(list, { from, to, ...paged, order: 'asc' })).toEqual(expected.toReversed())
          }
        },
      ),
      RUNS,
    )
  })

  it('is the same over an async ledger', async () => {
    await fc.assert(
      fc.asyncProperty(ledgers, requests, async ({ first, versions, retained }, request) => {
        const engine = await viewLedger(first, versions)
        await engine.prune(retained)
        const expected = seenOf(viewHistory(createLedger(engine).at(), request))
        for (const order of ['desc', 'asc'] as const) {
          const found: Seen[] = []
          for (let start: bigint | undefined; ; ) {
            const state = delayState(engineToAsync(engine), { random: createRandom(1), pageSize: 2 })
            const ledger = createAsyncLedger(state)
            const options = { order, start, limit: 3 }
            const page = await ledger.read((loaded) => {
              const history = viewHistory(loaded.at(), request, options)
              return { changes: seenOf(history), cursor: history.cursor }
            })
            found.push(...page.changes)
            start = page.cursor
            if (start === undefined) break
          }
          expect(order === 'desc' ? found : found.toReversed()).toEqual(expected)
        }
      }),
      RUNS,
    )
  })

  it('gives the known values of a slice, equal to the whole ledger, over an async ledger as over any other', async () => {
    const [object, kept, other] = [HOLDERS[0]!, HOLDERS[1]!, HOLDERS[2]!]
    const held = resourceKey(object, HELD)
    const step = fc.record({
      owner: fc.constantFrom(kept, other, undefined, undefined),
      value: fc.constantFrom(1n, null, undefined, undefined),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.bigInt(1n, 14n),
        fc.bigInt(0n, 12n),
        async (steps, retain, from) => {
          let isThere = true
          const later = steps.map(({ owner, value }): Write[] => {
            const owned = owner ? [ownedObject(object, owner)] : []
            // The chain deletes only keys that exist.
            if (value === undefined || (value === null && !isThere)) return owned
            const isCreation = value !== null && !isThere
            isThere = value !== null
            return [...owned, [held, value && u64(value), isCreation ? Uint8Array.of(1) : undefined]]
          })
          const versions = [[...GENESIS, [held, u64(1n)] as Write], [ownedObject(object, other)], ...later]
          const slice = await sliceOf(versions, { accounts: [kept], tables: [], types: [] })
          const whole = await wholeOf(versions)
          for (const engine of [slice, whole]) await engine.prune(retain)
          for (const order of ['desc', 'asc'] as const) {
            const list = (ledger: Ledger) =>
              knownOf(viewHistory(ledger.at(), call('holds', bytesToHex(object)), { order, from }))
            const state = delayState(engineToAsync(slice), { random: createRandom(1), pageSize: 2 })
            const known = list(createLedger(slice))
            expect(await createAsyncLedger(state).read(list)).toEqual(known)
            const all = list(createLedger(whole))
            if (known.at(-1) === 'unknown') expect(all.slice(0, known.length - 1)).toEqual(known.slice(0, -1))
            else expect(known).toEqual(all)
          }
        },
      ),
      RUNS,
    )
  })

  it('takes one round a step over an async ledger, once its keys are known, and ends a page after some of them', async () => {
    const values = Array.from({ length: 100 }, (_, at): Write[] => [[resourceKey(HOLDERS[0]!, HELD), u64(at)]])
    const state = delayState(engineToAsync(await viewLedger(0n, values)), { random: createRandom(1) })
    const page = await createAsyncLedger(state).read((loaded) => {
      const history = viewHistory(loaded.at(), call('value', '0xa1'), { order: 'asc' })
      return { count: seenOf(history).length, cursor: history.cursor }
    })
    // The first version has no value.
    expect(page).toEqual({ count: 48, cursor: 48n })
    expect(state.rounds).toBeLessThan(48 + 10)
  })

  it('runs once, whatever the window, if nothing that it reads changes', async () => {
    const engine = await viewLedger(0n, Array<Write[]>(2_000).fill([]))
    const history = viewHistory(createLedger(engine).at(), call('value', '0xa1'), {})
    expect(seenOf(history)).toHaveLength(1)
    expect([history.unchanged, history.dependsOnClock, history.complete]).toEqual([0, false, true])
  })

  it('names the keys that made its steps, and that the view depends on the clock, which may be ignored', async () => {
    const engine = await viewLedger(0n, Array<Write[]>(30).fill([]))
    const ledger = createLedger(engine)
    const whole = viewHistory(ledger.at(), call('parity_of_time'))
    expect(seenOf(whole).length).toBeGreaterThan(5)
    expect([whole.dependsOnClock, whole.exact]).toEqual([true, true])
    expect([...whole.steps.keys()]).toEqual([Buffer.from(CLOCK_KEY).toString('hex')])
    const sampled = viewHistory(ledger.at(), call('parity_of_time'), { ignoresClock: true })
    expect(seenOf(sampled)).toHaveLength(1)
    expect([sampled.dependsOnClock, sampled.exact]).toEqual([true, false])
  })

  it('shows evenly spaced points, with the answer of the view at each, and runs only if something changed', async () => {
    const sample = fc.oneof(
      fc.integer({ min: 2, max: 12 }).map((points) => ({ points })),
      fc.bigInt(1n, 9n).map((seconds) => ({ everyUsec: seconds * SECOND })),
    )
    await fc.assert(
      fc.asyncProperty(ledgers, requests, sample, async ({ first, versions, retained }, request, one) => {
        const engine = await viewLedger(first, versions)
        await engine.prune(retained)
        const ledger = createLedger(engine)
        const state = ledger.at()
        const list = (options: ViewHistoryOptions) => viewHistory(state, request, { sample: one, ...options })
        const points = [...list({ order: 'asc' })]
        for (const point of points) {
          expect(shown(point)).toBe(askedAt(ledger, point.version, request))
          if ('everyUsec' in one) {
            expect(point.timestampUsec! % one.everyUsec).toBe(0n)
            expect(point.version).toBe(engine.blockAtTime(point.timestampUsec!)!.lastVersion)
          }
        }
        const expected = points.map((point) => ({ version: point.version, answer: shown(point) }))
        expect(seenOf(list({}))).toEqual(expected.toReversed())
        for (const paged of [{ limit: 2 }, { isFull: () => true }]) {
          expect(inPages(list, paged)).toEqual(expected.toReversed())
          expect(inPages(list, { ...paged, order: 'asc' })).toEqual(expected)
        }
        const { oldestVersion, latestVersion } = ledger.info!
        const ends = [oldestVersion, latestVersion]
        if ('points' in one) expect([points[0]?.version, points.at(-1)?.version]).toEqual(ends)
      }),
      RUNS,
    )
    let runs = 0
    const engine = await viewLedger(0n, Array<Write[]>(200).fill([]))
    const options = { sample: { points: 50 }, onRun: () => runs++ }
    expect([...viewHistory(createLedger(engine).at(), call('value', '0xa1'), options)]).toHaveLength(50)
    expect(runs).toBe(1)
  })

  it('shows the points between two times, and the answer at each', async () => {
    const halves = fc.bigInt(-4n, 60n).map((half) => (half * SECOND) / 2n)
    const order = fc.constantFrom('asc' as const, 'desc' as const)
    const times = fc.tuple(halves, halves).map(([a, b]) => (a < b ? [a, b] : [b, a]) as readonly [bigint, bigint])
    await fc.assert(
      fc.asyncProperty(
        ledgers,
        requests,
        times,
        fc.bigInt(1n, 5n),
        order,
        async (drawn, request, range, step, asked) => {
          const engine = await viewLedger(drawn.first, drawn.versions)
          await engine.prune(drawn.retained)
          const ledger = createLedger(engine)
          const { oldestBlock, latestBlock, latestVersion } = ledger.info!
          const [fromUsec, toUsec] = range.map((time) => time + oldestBlock.timestampUsec) as [bigint, bigint]
          const to = toUsec < oldestBlock.timestampUsec ? undefined : ledger.versionAtTime(toUsec)
          if (to === undefined) return
          const end = to < latestVersion ? toUsec : latestBlock.timestampUsec
          const everyUsec = step * SECOND
          const expected: string[] = []
          for (let time = 0n; time <= end; time += everyUsec) {
            if (time < fromUsec || time < oldestBlock.timestampUsec) continue
            const version = ledger.versionAtTime(time)
            expected.push(`${time} ${version} ${askedAt(ledger, version, request)}`)
          }
          const from = firstVersionOf(ledger, { timestampUsec: fromUsec })
          const options = { from, to, order: asked, sample: { everyUsec, fromUsec, toUsec } }
          const seen = (of: Ledger, start?: bigint) => {
            const page = viewHistory(of.at(), request, { ...options, limit: 3, start })
            const points = Array.from(page, (point) => `${point.timestampUsec} ${point.version} ${shown(point)}`)
            return { points, cursor: page.cursor }
          }
          const inOrder = asked === 'asc' ? expected : expected.toReversed()
          const found: string[] = []
          let start: bigint | undefined
          do {
            const page = seen(ledger, start)
            found.push(...page.points)
            start = page.cursor
          } while (start !== undefined)
          expect(found).toEqual(inOrder)
          const late = await createAsyncLedger(engineToAsync(engine)).read((one) => seen(one))
          expect(late).toEqual(seen(ledger))
        },
      ),
      RUNS,
    )
  })

  it('ends with the last block of the first page, although later blocks begin until the time of the end', async () => {
    const versions = Array.from({ length: 30 }, (_, at): Write[] => [[resourceKey(HOLDERS[0]!, HELD), u64(at)]])
    const engine = await viewLedger(0n, versions.slice(0, 11))
    const { latestVersion: to } = engine.ledger!
    const pointsUntil = (toUsec: bigint) => {
      const options = { to, order: 'asc' as const, sample: { everyUsec: 2n * SECOND, toUsec } }
      return Array.from(viewHistory(createLedger(engine).at(), call('value', '0xa1'), options), (point) => {
        return `${point.timestampUsec! / SECOND}s ${point.version}`
      })
    }
    // Blocks begin at 0, 1, 4, 9 and 16 seconds.
    const expected = ['0s 2', '2s 5', '4s 8', '6s 8', '8s 8']
    expect(pointsUntil(17n * SECOND)).toEqual(expected)
    for (const [at, writes] of versions.slice(11).entries()) {
      const height = 4n + BigInt(at) / 3n
      const block = at % 3 === 0 ? { height, epoch: 0n, timestampUsec: height * height * SECOND } : undefined
      await engine.commit([{ version: to + 1n + BigInt(at), block, writes }], { chainId: 4 })
    }
    expect(pointsUntil(17n * SECOND)).toEqual(expected)
    expect(pointsUntil(15n * SECOND)).toEqual([...expected, '10s 11', '12s 11', '14s 11'])
  })

  it.each(['asc', 'desc'] as const)('asks other machines for no time outside of the range (%s)', async (order) => {
    const engine = await viewLedger(
      0n,
      Array.from({ length: 60 }, (): Write[] => []),
    )
    await engine.prune(40n)
    const asked: bigint[] = []
    const state = engineToAsync(engine)
    const over = createAsyncLedger({
      ...state,
      snapshot: async () => {
        const snapshot = await state.snapshot()
        const blockAtTime = (timestampUsec: bigint) => {
          asked.push(timestampUsec)
          return snapshot.blockAtTime(timestampUsec)
        }
        return { ...snapshot, blockAtTime }
      },
    })
    const [to, toUsec] = [50n, 280n * SECOND]
    for (const from of [undefined, 45n]) {
      asked.length = 0
      const options = { from, to, order, limit: 50, sample: { everyUsec: 7n * SECOND, toUsec } }
      const points = await over.read((ledger) => [...viewHistory(ledger.at(), call('point'), options)])
      expect(points.length).toBeGreaterThan(5)
      expect(asked).toEqual(points.map(({ timestampUsec }) => timestampUsec))
    }
  })

  it.each([
    ['points in time', { everyUsec: 2n * SECOND }],
    ['versions', { points: 6 }],
  ])('refuses to continue with %s below a prune, because points would be missing', async (_, sample) => {
    const order = ['asc', 'desc'] as const
    for (const asked of order) {
      const engine = await viewLedger(
        0n,
        Array.from({ length: 12 }, (): Write[] => []),
      )
      const page = (start?: bigint) => {
        const limit = asked === 'asc' ? 2 : 4
        return viewHistory(createLedger(engine).at(), call('point'), { sample, order: asked, limit, start })
      }
      const first = page()
      expect(seenOf(first)).not.toEqual([])
      expect(first.cursor).toBeDefined()
      await engine.prune(3n)
      expect(() => seenOf(page(first.cursor))).toThrow(expect.objectContaining({ code: 'version_pruned' }))
    }
  })

  it('continues below a truncation', async () => {
    const values = [1, 2, 3, 4, 5, 6, 7, 8].map((value): Write[] => [[resourceKey(HOLDERS[0]!, HELD), u64(value)]])
    const engine = await viewLedger(0n, values)
    const state = createLedger(engine).at()
    for (const options of [{ to: 5n }, { to: 5n, order: 'asc' }] as const) {
      const expected = seenOf(viewHistory(state, call('value', '0xa1'), options))
      const running = viewHistory(state, call('value', '0xa1'), options)[Symbol.iterator]()
      running.next()
      await engine.truncateTo(engine.ledger!.latestVersion - 1n)
      expect(seenOf({ [Symbol.iterator]: () => running })).toEqual(expected.slice(1))
    }
  })

  it('refuses to continue below a prune, and across a truncation', async () => {
    const values = [1, 2, 3, 4, 5, 6, 7, 8].map((value): Write[] => [[resourceKey(HOLDERS[0]!, HELD), u64(value)]])
    const engine = await viewLedger(0n, values)
    const state = createLedger(engine).at()
    const page = viewHistory(state, call('value', '0xa1'), { limit: 6 })
    expect(seenOf(page)).toHaveLength(6)
    const running = viewHistory(state, call('value', '0xa1'))[Symbol.iterator]()
    running.next()
    await engine.prune(3n)
    const rest = viewHistory(state, call('value', '0xa1'), { start: page.cursor })
    expect(() => seenOf(rest)).toThrow(expect.objectContaining({ code: 'version_pruned' }))
    expect(() => [running.next(), running.next(), running.next(), running.next()]).toThrow(
      expect.objectContaining({ code: 'version_pruned' }),
    )
    const before = viewHistory(createLedger(engine).at(), call('value', '0xa1'))[Symbol.iterator]()
    before.next()
    // Version 7 was read already: the step between it and version 8 was shown.
    await engine.truncateTo(6n)
    expect(() => before.next()).toThrow(expect.objectContaining({ code: 'version_truncated' }))
  })

  describe('pruned while it is read', () => {
    const version = fc.option(fc.bigInt(0n, 12n), { nil: undefined })
    const sample = fc.oneof(
      fc.integer({ min: 2, max: 12 }).map((points) => ({ points })),
      fc.bigInt(1n, 9n).map((seconds) => ({ everyUsec: seconds * SECOND })),
    )
    const pages = fc.record({
      order: fc.constantFrom('desc' as const, 'asc' as const),
      from: version,
      limit: fc.constantFrom(1, 3, 1_000),
      sample: fc.option(sample, { nil: undefined, freq: 1 }),
    })
    const held = fc
      .tuple(fc.constantFrom(...HOLDERS.slice(0, 2)), fc.option(fc.nat(3), { freq: 1 }))
      .map(([holder, value]): Write => [resourceKey(holder, HELD), value === null ? null : u64(value)])
    /**
     * The program is published again now and then, so that a view that reads an absent value reads something that was
     * written.
     */
    const program = fc.constant(GENESIS.find(([key]) => bytesToHex(key) === bytesToHex(moduleKey(PROGRAM, 'main')))!)
    const one = fc.oneof({ weight: 3, arbitrary: held }, program)
    const histories = fc.array(fc.array(one, { maxLength: 1 }), { minLength: 6, maxLength: 24 })
    const views = fc.constantFrom(call('either', '0xa1', '0xa2'), call('either', '0xa2', '0xa1'), call('holds', '0xa1'))

    interface Asked {
      readonly request: ViewRequest
      readonly options: ViewHistoryOptions
    }

    const list = (ledger: Ledger, { request, options }: Asked) => viewHistory(ledger.at(), request, options)

    function readPage(ledger: Ledger, asked: Asked) {
      const history = list(ledger, asked)
      const changes = seenOf(history)
      return { changes, cursor: history.cursor, complete: history.complete, oldest: ledger.info!.oldestVersion }
    }

    /**
     * A page over an async ledger has to be as before the prune or as after it; of a state that is not renewed, it may
     * be refused.
     */
    async function expectWhole(engine: StateWriter, moment: PruneMoment, seed: number, asked: Asked): Promise<void> {
      const before = readPage(createLedger(engine), asked)
      const state = delayState(pruneWhileRead(engine, moment), { random: createRandom(seed) })
      const found = await orPruned(async () => createAsyncLedger(state).read((ledger) => readPage(ledger, asked)))
      const after = await orPruned(() => readPage(createLedger(engine), asked))
      expect([before, after, ...(moment.isRenewed ? [] : ['pruned'])]).toContainEqual(found)
    }

    /** A page over an engine that is pruned after some changes were shown has to be as before, or is refused. */
    async function expectWholeOrRefused(
      engine: StateWriter,
      shown: number,
      retain: bigint,
      asked: Asked,
    ): Promise<void> {
      const before = seenOf(list(createLedger(engine), asked))
      const history = list(createLedger(engine), asked)[Symbol.iterator]()
      const found: (Seen | 'unknown')[] = []
      for (let next = history.next(); !next.done; next = history.next()) {
        found.push(...seenOf([next.value]))
        if (found.length === shown) break
      }
      await engine.prune(retain)
      found.push(...knownOf({ [Symbol.iterator]: () => history }))
      if (found.at(-1) === 'unknown') expect(before.slice(0, found.length - 1)).toEqual(found.slice(0, -1))
      else expect(found).toEqual(before)
    }

    it('is whole or refused, whenever and how far it is pruned', async () => {
      await fc.assert(
        fc.asyncProperty(
          histories,
          views,
          pages,
          fc.record({
            questions: fc.nat(16),
            retainVersions: fc.bigInt(1n, 12n),
            isRenewed: fc.integer({ min: 0, max: 7 }).map((at) => at > 0),
          }),
          fc.integer(),
          async (versions, request, options, moment, seed) => {
            await expectWhole(await viewLedger(0n, versions), moment, seed, { request, options })
            const { questions, retainVersions } = moment
            await expectWholeOrRefused(await viewLedger(0n, versions), questions % 8, retainVersions, {
              request,
              options,
            })
          },
        ),
        { numRuns: isSlowRun ? scaledRounds(200) : 40 },
      )
    })

    it.each([
      ['of changes', {}],
      ['of points in time', { sample: { everyUsec: 4n * SECOND } }],
    ])('does not miss a deletion that the prune took, %s', async (_, more) => {
      const [one, other] = [resourceKey(HOLDERS[0]!, HELD), resourceKey(HOLDERS[1]!, HELD)]
      const versions = Array.from({ length: 20 }, (): Write[] => [])
      versions[2] = [
        [one, u64(1)],
        [other, u64(1)],
      ]
      versions[5] = [[other, null]]
      versions[13] = [[one, null]]
      // The view reads the other key only if the first has a value, so its writes are searched for downwards from
      // version 13.
      const asked = { request: call('either', '0xa1', '0xa2'), options: { from: 4n, ...more } }
      for (let questions = 0; questions < 30; questions++) {
        const moment = { questions, retainVersions: 8n, isRenewed: questions % 3 > 0 }
        await expectWhole(await viewLedger(0n, versions), moment, questions, asked)
        await expectWholeOrRefused(await viewLedger(0n, versions), questions, 8n, asked)
      }
    })
  })

  describe('truncated while it is read', () => {
    const holder = fc.constantFrom(...HOLDERS.slice(0, 2))
    const held = fc.tuple(holder, fc.nat(2)).map(([one, value]): Write => [resourceKey(one, HELD), u64(value)])
    const histories = fc.array(fc.array(held, { maxLength: 1 }), { minLength: 6, maxLength: 20 })
    const options = fc.record({
      order: fc.constantFrom('desc' as const, 'asc' as const),
      to: fc.option(fc.bigInt(1n, 20n), { nil: undefined }),
      sample: fc.option(
        fc.oneof(
          fc.integer({ min: 2, max: 12 }).map((points) => ({ points })),
          fc.bigInt(1n, 9n).map((seconds) => ({ everyUsec: seconds * SECOND })),
        ),
        { nil: undefined },
      ),
    })

    /** Continues with other writes of the same versions and with more of them. */
    async function branchOff(engine: StateWriter, kept: bigint): Promise<void> {
      const { latestVersion } = engine.ledger!
      await engine.truncateTo(kept)
      const { height, timestampUsec } = engine.ledger!.latestBlock
      for (let version = kept + 1n; version <= latestVersion + 2n; version++) {
        const at = version - kept
        const block = { height: height + at, epoch: 0n, timestampUsec: timestampUsec + at * SECOND }
        await engine.commit([{ version, block, writes: [[resourceKey(HOLDERS[0]!, HELD), u64(7n + at)]] }], {
          chainId: 4,
        })
      }
    }

    it('is of the versions that it began with, or refused because one of them was cut off', async () => {
      await fc.assert(
        fc.asyncProperty(histories, options, fc.nat(6), fc.nat(20), async (versions, asked, shown, cut) => {
          const engine = await viewLedger(0n, versions)
          const ledger = createLedger(engine)
          const request = call('either', '0xa1', '0xa2')
          const { latestVersion } = engine.ledger!
          const last = asked.to !== undefined && asked.to < latestVersion ? asked.to : latestVersion
          const expected = seenOf(viewHistory(ledger.at(), request, asked))
          const kept = latestVersion - BigInt(cut) > 0n ? latestVersion - BigInt(cut) : 0n
          const found: Seen[] = []
          const running = viewHistory(ledger.at(), request, asked)[Symbol.iterator]()
          try {
            for (let next = running.next(); !next.done; next = running.next()) {
              found.push(...seenOf([next.value]))
              if (found.length === shown) await branchOff(engine, kept)
            }
            expect(found).toEqual(expected)
          } catch (error) {
            if (!isLedgerStateError(error, 'version_truncated')) throw error
            expect(kept).toBeLessThan(last)
            expect(expected.slice(0, found.length)).toEqual(found)
          }
        }),
        RUNS,
      )
    })
  })

  it('lets others have a turn while a view runs', async () => {
    const engine = await viewLedger(0n, [])
    const request = { ...call('value'), arguments: { json: [new JsonNumber('1')] } }
    const turns = [...viewHistory(createLedger(engine).at(), request).turns()]
    expect(turns.filter((turn) => turn !== undefined)).toHaveLength(1)
  })
})
