import { isLedgerStateError, type LedgerStateError, larger, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { expectNotTruncated, type LedgerSummary, type StateReader, versionPruned } from '@ledger-state/engine'
import type { ComputeTask } from '@ledger-state/move-vm'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { createBlockTimes } from '../blocks/block-times.js'
import type { Change, ChangeHistoryOptions, History } from '../histories/history.js'
import { type LedgerState, pinState } from '../state/ledger-state.js'
import { ReadTrace } from '../traces/read-trace.js'
import type { StoredValue } from '../types/stored-value.js'
import { CodeRevision } from './code-revision.js'
import { createWritesAbove, createWritesUntil, type KeyWrites } from './key-writes.js'
import { beginSampling, type ViewSample } from './sample-points.js'
import { type StartViewOptions, startView } from './start-view.js'
import type { StartedView, ViewReport } from './started-view.js'
import type { ViewRequest } from './view-request.js'

/** Answer of a view at a version. */
export interface ViewAnswer {
  readonly results: readonly StoredValue[]
  /** The JSON of each result. */
  readonly json: readonly string[]
}

/** Options for one page of the changes of a view's answer, and for its runs. */
export interface ViewHistoryOptions
  extends ChangeHistoryOptions,
    Pick<StartViewOptions, 'budget' | 'computesElsewhere'> {
  /**
   * Whether a change of only the chain's clock starts no new run, so that a view that reads the time runs only when
   * something else changed. Each answer is then right for the version that is shown, but not all changes are shown.
   */
  readonly ignoresClock?: boolean | undefined
  /**
   * Shows evenly spaced points instead of changes. The view does not run again if nothing that it read has changed
   * since the point before. `start` and `cursor` are then times, in microseconds, or versions.
   */
  readonly sample?: ViewSample | undefined
  /** Called before each run except the first two of a page. If it returns true, the page ends there. */
  readonly isFull?: (() => boolean) | undefined
  /** Called after every run that ended. */
  readonly onRun?: ((report: ViewReport) => void) | undefined
}

/** One page of the changes of a view's answer; see `History`. */
export interface ViewHistory extends History<Change<ViewAnswer>> {
  /**
   * Iterates the changes in turns. It yields undefined after a fraction of a millisecond, or when the view waits for
   * `task`.
   */
  turns(): Iterable<Change<ViewAnswer> | undefined>
  /** The task that the current run waits for, if tasks are done elsewhere. */
  readonly task: ComputeTask | undefined
  /** Gives the result of the task that the current run waits for. */
  provide(result: readonly Uint8Array[]): void
  /** Bytes that the running view has been charged so far; 0 between two runs. */
  readonly bytes: number
  /** Whether each change of the range is shown. False for points, and if the clock is ignored and the view read it. */
  readonly exact: boolean
  /** Whether a run read the clock of the chain, which every block writes. */
  readonly dependsOnClock: boolean
  /** Number of runs with the same answer as the previous run. */
  readonly unchanged: number
  /** How many steps each key has made, by its text in hex. */
  readonly steps: ReadonlyMap<string, number>
  /** The keys whose writes may change the answer of the newest run, by their texts in hex. Empty before the first run. */
  readonly keys: ReadonlyMap<string, Uint8Array>
}

/** Key of the chain's clock, which each block writes, as text. */
const CLOCK_TEXT = bytesToHexDigits(
  resourceKey(parseAddress('0x1'), parseStructTag('0x1::timestamp::CurrentTimeMicroseconds')),
)

type ViewOutcome =
  | { readonly value: ViewAnswer; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: LedgerStateError }

/** The iteration has read values on which its next step depends. It ends here if they are not loaded. */
const HAS_READ = Symbol('has read')

type Step = Change<ViewAnswer> | undefined | typeof HAS_READ

/** A run, its answer, and the keys that the answer depends on. */
interface Ran {
  readonly version: bigint
  readonly answer: ViewOutcome
  readonly keys: ReadonlyMap<string, Uint8Array>
}

/**
 * The versions at which the answer of a view function changed, up to the version of the state. Each run has the whole
 * budget, so an entry is the result of `callView` at each version until the next entry. The answer stays the same until
 * one of the keys that a run read is written, so the next run is at that write.
 */
export function viewHistory(state: LedgerState, request: ViewRequest, options: ViewHistoryOptions = {}): ViewHistory {
  return new ChangesOfView(state, request, options)
}

class ChangesOfView implements ViewHistory {
  readonly #state: LedgerState
  readonly #reader: StateReader
  readonly #ledger: LedgerSummary
  readonly #request: ViewRequest
  readonly #options: ViewHistoryOptions
  readonly #first: bigint
  readonly #last: bigint
  readonly #timeOf: (version: bigint) => bigint | undefined
  readonly #code = new CodeRevision()
  readonly steps = new Map<string, number>()
  keys: ReadonlyMap<string, Uint8Array> = new Map()
  readonly complete: boolean
  cursor: bigint | undefined
  dependsOnClock = false
  unchanged = 0
  #running: StartedView | undefined
  #runs = 0
  #shown = 0

  constructor(state: LedgerState, request: ViewRequest, options: ViewHistoryOptions) {
    const { version, ledger } = state
    const { reader } = state.source
    const { from = 0n, to = version } = options
    this.#state = state
    this.#reader = reader
    this.#ledger = ledger
    this.#request = request
    this.#options = options
    this.#first = from
    this.#last = to < version ? to : version
    this.#timeOf = createBlockTimes(reader, ledger.oldestVersion)
    this.complete =
      reader.base?.complete === true && (options.from === undefined || options.from >= ledger.oldestVersion)
  }

  get task(): ComputeTask | undefined {
    return this.#running?.task
  }

  get bytes(): number {
    return this.#running?.bytes ?? 0
  }

  provide(result: readonly Uint8Array[]): void {
    this.#running?.provide(result)
  }

  get exact(): boolean {
    return !this.#options.sample && !(this.#options.ignoresClock && this.dependsOnClock)
  }

  *[Symbol.iterator](): Iterator<Change<ViewAnswer>> {
    for (const change of this.turns()) if (change) yield change
  }

  *turns(): Generator<Change<ViewAnswer> | undefined> {
    const { loading } = this.#state.source
    for (const step of this.#steps()) {
      if (step !== HAS_READ) yield step
      else if (loading?.isLacking) return
    }
  }

  #steps(): Generator<Step> {
    if (this.#options.sample) return this.#sampled(this.#options.sample)
    return this.#options.order === 'asc' ? this.#oldestFirst() : this.#newestFirst()
  }

  *#oldestFirst(): Generator<Step> {
    const { oldestVersion } = this.#ledger
    const { start } = this.#options
    // A page that begins at a change compares it with the version before.
    if (start !== undefined && start <= oldestVersion) throw versionPruned(start, oldestVersion)
    const writes = createWritesAbove(this.#reader, this.#last)
    const begin = start ?? this.#first
    if (this.#last < oldestVersion || this.#last < begin) return
    const opens = start === undefined && begin <= oldestVersion
    let before = yield* this.#run(opens ? oldestVersion : begin - 1n)
    if (opens) yield* this.#showOpening(before)
    for (;;) {
      const next = writes.nearest(before.keys, before.version)
      // Without a write, the answer holds up to the last version.
      this.#expectKept(before.version, next ?? this.#last)
      yield HAS_READ
      if (next === undefined) return
      if (this.#isFull) {
        this.cursor = next
        return
      }
      this.#countSteps(writes, next)
      this.#continueCode(before, next, writes)
      yield* this.#readAhead(before, next, writes)
      const ran: Ran = yield* this.#run(next)
      if (isSameOutcome(before.answer, ran.answer)) this.unchanged++
      else if (this.#shown === this.#options.limit) {
        this.cursor = next
        return
      } else yield this.#show(next, ran.answer)
      before = ran
    }
  }

  *#newestFirst(): Generator<Step> {
    const { oldestVersion } = this.#ledger
    const { start } = this.#options
    const writes = createWritesUntil(this.#reader)
    const begin = start !== undefined && start < this.#last ? start : this.#last
    if (start !== undefined && start < oldestVersion) throw versionPruned(start, oldestVersion)
    if (begin < oldestVersion || begin < this.#first) return
    let ran = yield* this.#run(begin)
    for (;;) {
      const written = writes.nearest(ran.keys, ran.version)
      this.#expectKept(ran.version)
      yield HAS_READ
      if (written === undefined || written <= oldestVersion) {
        yield* this.#showOpening(ran)
        return
      }
      if (written < this.#first) {
        this.#expectKept(this.#first)
        return
      }
      if (this.#isFull) {
        this.cursor = written
        return
      }
      this.#countSteps(writes, written)
      this.#continueCode(ran, written, writes)
      yield* this.#readAhead(ran, written - 1n, writes, written)
      const older: Ran = yield* this.#run(written - 1n)
      if (isSameOutcome(older.answer, ran.answer)) this.unchanged++
      else if (this.#shown === this.#options.limit) {
        this.cursor = written
        return
      } else yield this.#show(written, ran.answer)
      ran = older
    }
  }

  *#sampled(sample: ViewSample): Generator<Step> {
    const [reader, ledger] = [this.#reader, this.#ledger]
    const { order, limit = Number.POSITIVE_INFINITY, start } = this.#options
    const isUpward = order === 'asc'
    const writes = isUpward ? createWritesAbove(reader, this.#last) : createWritesUntil(reader)
    const beginsWithTime = 'everyUsec' in sample && sample.fromUsec !== undefined
    const first = beginsWithTime ? ledger.oldestVersion : larger(this.#first, ledger.oldestVersion)
    if (this.#last < first) return
    const page = { first, last: this.#last, ledger, sample, isUpward, start, most: limit + 1 }
    const readPoints = beginSampling(reader, page)
    yield HAS_READ
    const points = readPoints()
    yield HAS_READ
    let ran: Ran | undefined
    // Times lead to versions by way of blocks of the whole range.
    expectNotTruncated(this.#last, ledger, reader.ledger)
    for (const { version, timestampUsec, cursor } of points) {
      const isKnown = ran !== undefined && this.#stands(ran, version, writes)
      yield HAS_READ
      if (this.#shown === limit || (!isKnown && this.#isFull)) {
        this.cursor = cursor
        return
      }
      if (ran === undefined || !isKnown) {
        if (ran) {
          this.#continueCode(ran, version > ran.version ? version : version + 1n, writes)
          yield* this.#readAhead(ran, version, writes)
        }
        ran = yield* this.#run(version)
      }
      yield { ...this.#show(version, ran.answer), timestampUsec: timestampUsec ?? this.#timeOf(version) }
    }
  }

  /** Whether no key that a run read was written between its version and another one. */
  #stands(ran: Ran, version: bigint, writes: KeyWrites): boolean {
    const nearest = writes.nearest(ran.keys, ran.version)
    this.#expectKept(ran.version, version > ran.version ? version : ran.version)
    return nearest === undefined || (version > ran.version ? nearest > version : nearest <= version)
  }

  /** Runs the view at a version. */
  *#run(version: bigint): Generator<undefined | typeof HAS_READ, Ran> {
    this.#expectKept(version)
    const state = pinState(this.#state.source, version)
    expectNotTruncated(version, this.#ledger, state.ledger)
    const trace = new ReadTrace()
    const answer = yield* this.#answer(state, trace)
    yield HAS_READ
    this.#runs++
    this.keys = this.#stepKeys(trace)
    return { version, answer, keys: this.keys }
  }

  *#answer(state: LedgerState, trace: ReadTrace): Generator<undefined, ViewOutcome> {
    const { budget, computesElsewhere } = this.#options
    try {
      const started = startView(state, this.#request, { budget, computesElsewhere, trace, code: this.#code })
      this.#running = started
      for (;;) {
        const results = this.#advance(started)
        if (results) return { value: { results, json: results.map((result) => result.toJson()) } }
        yield undefined
      }
    } catch (error) {
      if (isLedgerStateError(error, 'view_argument_invalid', 'view_failed', 'view_result_unreadable')) return { error }
      throw error
    } finally {
      this.#running = undefined
    }
  }

  #advance(started: StartedView): readonly StoredValue[] | undefined {
    try {
      return started.advance()
    } finally {
      if (started.report) this.#options.onRun?.(started.report)
    }
  }

  #stepKeys({ keys }: ReadTrace): ReadonlyMap<string, Uint8Array> {
    if (!keys.has(CLOCK_TEXT)) return keys
    this.dependsOnClock = true
    if (!this.#options.ignoresClock) return keys
    const others = new Map(keys)
    others.delete(CLOCK_TEXT)
    return others
  }

  /**
   * Reads the values that the next run will most likely read, the writes that follow it, and the transaction that a
   * caller shows. A state on other machines loads all of them in one round. Others skip this.
   * @param shown the version that is shown if the answer differs
   */
  *#readAhead({ keys }: Ran, next: bigint, writes: KeyWrites, shown = next): Generator<typeof HAS_READ> {
    if (!this.#state.source.loading) return
    const view = this.#reader.at(next)
    for (const key of keys.values()) view.getEntry(key)
    try {
      writes.nearest(keys, next)
    } catch (error) {
      // If a slice does not know the writes, this is reported after the next run has ended.
      if (!isLedgerStateError(error, 'version_pruned')) throw error
    }
    this.#timeOf(next)
    this.#state.transactions.at(shown)
    yield HAS_READ
  }

  /** @param write the farthest write between the last run and the next one */
  #continueCode({ keys }: Ran, write: bigint, writes: KeyWrites): void {
    this.#code.continueAfter(keys, (text) => writes.isWrittenUpTo(write, text))
  }

  #countSteps(writes: KeyWrites, version: bigint): void {
    for (const key of writes.writtenAt(version)) {
      const text = bytesToHexDigits(key)
      this.steps.set(text, (this.steps.get(text) ?? 0) + 1)
    }
  }

  get #isFull(): boolean {
    if (this.#runs < 2) return false
    const { loading } = this.#state.source
    return (loading !== undefined && this.#runs >= loading.mostViewRuns) || this.#options.isFull?.() === true
  }

  #show(version: bigint, answer: ViewOutcome): Change<ViewAnswer> {
    this.#shown++
    const moment = { version, timestampUsec: this.#timeOf(version) }
    return answer.error ? { ...moment, error: answer.error } : { ...moment, value: answer.value }
  }

  /** Shows the first answer of the window, under the newest version that wrote any of the keys that it read. */
  *#showOpening({ keys, answer }: Ran): Generator<Change<ViewAnswer> | typeof HAS_READ> {
    const view = this.#reader.at(this.#ledger.oldestVersion)
    let written: bigint | undefined
    for (const key of keys.values()) {
      const version = view.getEntry(key)?.version
      if (version !== undefined && (written === undefined || version > written)) written = version
    }
    const version = written ?? view.version
    yield HAS_READ
    if (version < this.#first) return
    if (this.#shown === this.#options.limit) this.cursor = this.#ledger.oldestVersion
    else yield this.#show(version, answer)
  }

  /**
   * Checks that no prune has removed writes of a version or of later ones unnoticed, and that no truncation has cut off
   * a version.
   * @param newest the newest version on which the answer depends
   */
  #expectKept(version: bigint, newest = version): void {
    const [reader, ledger] = [this.#reader, this.#ledger]
    const { oldestVersion } = reader.ledger!
    if (oldestVersion > ledger.oldestVersion && version <= oldestVersion) throw versionPruned(version, oldestVersion)
    expectNotTruncated(newest, ledger, reader.ledger)
  }
}

function isSameOutcome(a: ViewOutcome, b: ViewOutcome): boolean {
  if (a.error || b.error) {
    return (
      a.error?.code === b.error?.code &&
      a.error?.message === b.error?.message &&
      a.error?.fields.vmErrorCode === b.error?.fields.vmErrorCode
    )
  }
  const [left, right] = [a.value.json, b.value.json]
  return left.length === right.length && left.every((json, at) => json === right[at])
}
