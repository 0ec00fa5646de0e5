import { Backoff, isLedgerStateError, pauseFor } from '@ledger-state/core'
import {
  type AsyncState,
  type AsyncStateSnapshot,
  branchOf,
  isSameLedger,
  type LedgerSummary,
} from '@ledger-state/engine'
import { SLICE_KEY } from '@ledger-state/records'
import { readTooLarge } from '../errors.js'
import { cacheUses, createCaches, createLedgerOver, sourceOf } from '../state/create-ledger.js'
import type { Ledger } from '../state/ledger.js'
import type { StateSource } from '../state/ledger-state.js'
import { AsyncTypeResolver } from './async-type-resolver.js'
import { KnownModules } from './known-modules.js'
import { LoadBudget } from './load-budget.js'
import { LoadedState } from './loaded-state.js'

const NEWER_ATTEMPTS = 10
const NEWER_PAUSES = { firstMs: 5, longestMs: 20 }

/** Limits on the data that one read may load, and on the data cached between reads. */
export interface AsyncLedgerOptions {
  /** Bytes that one read may load, by default 128 MiB. */
  readonly maxLoadedBytes?: number | undefined
  /** Rounds to the servers that one read may take, by default 256. */
  readonly maxRounds?: number | undefined
  /** Bytes of modules that are kept between reads, by default 32 MiB. */
  readonly moduleCacheBytes?: number | undefined
}

/** Reads of a ledger with state on other machines; they return promises. */
export interface AsyncLedger {
  /** Discriminant: reads of a `Ledger` are synchronous, reads of this ledger return promises. */
  readonly kind: 'async'
  /** The newest ledger that a server reported; undefined before the first read and while the store is empty. */
  readonly info: LedgerSummary | undefined
  /**
   * Runs a read against the loaded part of the state, loads the missing data, and runs it again until nothing is
   * missing. All runs see one state of the ledger. As it may run several times, `run` must do nothing but read; it must
   * not use its ledger after it has ended.
   * @throws the errors of the read; `unavailable`; `read_too_large` if it needs more bytes or rounds than one read may
   */
  read<T>(run: (ledger: Ledger) => T | Promise<T>): Promise<T>
  /** Use of the caches of this ledger, by their names. */
  readonly caches: Ledger['caches']
}

/** Creates the reads of `createLedger` over an asynchronous engine. */
export function createAsyncLedger(state: AsyncState, options: AsyncLedgerOptions = {}): AsyncLedger {
  const { maxLoadedBytes = 128 << 20, maxRounds = 256, moduleCacheBytes = 32 << 20 } = options
  const caches = createCaches()
  const modules = new KnownModules(moduleCacheBytes)
  const newest = new NewestSnapshot(state, modules)
  /**
   * The store's record of its slice, once a read has asked for it. A store keeps a slice since its first version, or
   * never.
   */
  let slice: { readonly record: Uint8Array | undefined } | undefined

  return {
    kind: 'async',
    get info() {
      return state.ledger
    },
    get caches() {
      return cacheUses(caches)
    },
    async read(run) {
      const asked = newest.take()
      asked.catch(() => {})
      // The read begins on the last snapshot while the newest is asked for. Usually the ledger has not changed, and
      // that saves a round; otherwise the read runs again.
      let isNewest = newest.known === undefined
      let current = newest.known ?? (await asked)
      const loaded = new LoadedState(current, modules, new LoadBudget(maxLoadedBytes))
      const types = new AsyncTypeResolver(caches.types, caches.modules, loaded)
      const sourceOfRead = (): StateSource => ({ ...sourceOf(loaded, slice?.record, caches), types, loading: loaded })
      let source = sourceOfRead()
      for (let rounds = 0; rounds <= maxRounds; rounds++) {
        loaded.isUsed = false
        if (slice) source = sourceOfRead()
        // A new ledger for each run, because a ledger keeps the state that it pinned last.
        const result = attempt(() => run(createLedgerOver(loaded, () => source, caches)))
        const outcome = result instanceof Promise ? await result : result
        const { isLacking, isUsed } = loaded
        // Asked once, in the same round as the data that the first run lacked.
        const isSliceAsked = !slice && current.ledger !== undefined
        const [arrived, loading] = await Promise.all([
          isNewest || !isUsed ? undefined : asked,
          attempt(() => Promise.all([isSliceAsked && current.at().load([SLICE_KEY]), isLacking && loaded.load()])),
        ])
        if (arrived) isNewest = true
        if ('value' in loading && loading.value[0]) slice ??= { record: loading.value[0][0]?.value }
        if ('error' in loading && !isOfCut(loading)) throw loading.error
        const isNewer = newerThan(current, loaded.overtakenBy, isOfCut(loading))
        const next = isNewer
          ? await newest.takeWith(isNewer)
          : (arrived ?? (isOfCut(outcome) ? await newest.takeOfOtherBranch(current) : undefined))
        if (next !== undefined && next !== current) {
          current = next
          loaded.moveTo(next)
        } else if ('error' in loading) throw loading.error
        else if (!isLacking && !(isSliceAsked && slice?.record)) return resultOf(outcome)
      }
      throw readTooLarge.tooManyRounds(maxRounds)
    },
  }
}

/** The newest snapshot of a state: one object as long as the ledger stays the same. */
class NewestSnapshot {
  readonly #state: AsyncState
  readonly #modules: KnownModules
  #latest: AsyncStateSnapshot | undefined

  constructor(state: AsyncState, modules: KnownModules) {
    this.#state = state
    this.#modules = modules
  }

  /** The newest snapshot, if one was taken since the ledger last changed; known without a round. */
  get known(): AsyncStateSnapshot | undefined {
    return this.#latest && isSameLedger(this.#latest.ledger, this.#state.ledger) ? this.#latest : undefined
  }

  async take(): Promise<AsyncStateSnapshot> {
    const snapshot = await this.#state.snapshot()
    // The headers of answers are cached by this object, so it stays the same as long as the state does.
    if (this.#latest && isSameLedger(this.#latest.ledger, snapshot.ledger)) return this.#latest
    if (!isSameLedger(snapshot.ledger, this.#state.ledger)) return snapshot
    this.#latest = snapshot
    // Runs in the round in which this read continues. If it fails, reads load the missing data.
    if (snapshot.ledger) this.#modules.renew(snapshot.at()).catch(() => {})
    return snapshot
  }

  /** Takes a snapshot; undefined if it is of the same branch as another one. */
  async takeOfOtherBranch({ ledger }: AsyncStateSnapshot): Promise<AsyncStateSnapshot | undefined> {
    const snapshot = await this.take()
    return ledger && snapshot.ledger && branchOf(snapshot.ledger) === branchOf(ledger) ? undefined : snapshot
  }

  /**
   * Takes a snapshot of a ledger that servers are known to have: after a prune, or of another branch. For some
   * milliseconds, an engine may return an older state as the newest.
   */
  async takeWith(isIt: (ledger: LedgerSummary) => boolean): Promise<AsyncStateSnapshot> {
    for (const backoff = new Backoff(NEWER_PAUSES); ; ) {
      const snapshot = await this.take()
      if (backoff.failures === NEWER_ATTEMPTS || (snapshot.ledger && isIt(snapshot.ledger))) return snapshot
      await pauseFor(backoff.next())
    }
  }
}

/** Whether a ledger is newer than a snapshot that a prune or a truncation has overtaken; undefined if none has. */
function newerThan(
  { ledger }: AsyncStateSnapshot,
  overtakenBy: bigint | undefined,
  isCutOff: boolean,
): ((ledger: LedgerSummary) => boolean) | undefined {
  if (overtakenBy !== undefined) return ({ oldestVersion }) => oldestVersion >= overtakenBy
  return isCutOff ? (newer) => branchOf(newer) !== branchOf(ledger!) : undefined
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown }

/** Runs a read, and returns a promise only if the read does. */
function attempt<T>(run: () => T | Promise<T>): Outcome<T> | Promise<Outcome<T>> {
  const fail = (error: unknown): Outcome<T> => ({ error })
  try {
    const value = run()
    return value instanceof Promise ? value.then((late) => ({ value: late }), fail) : { value }
  } catch (error) {
    return fail(error)
  }
}

/** Whether versions that were asked for were cut off. */
function isOfCut(outcome: Outcome<unknown>): boolean {
  return 'error' in outcome && isLedgerStateError(outcome.error, 'version_truncated')
}

function resultOf<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
