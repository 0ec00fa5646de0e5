import type { LedgerSummary, StateReader, StateView } from '@ledger-state/engine'
import type { AnswerReport, ForwardOptions, LedgerTrust, SignedState, ViewServiceOptions } from '@ledger-state/http'
import type { Ledger } from '@ledger-state/ledger'
import type { StoreStats } from '@ledger-state/state-engine'
import { Counter, Gauge, Registry } from 'prom-client'
import type { ProcessLogger } from './logger.js'
import { registerProcessMetrics } from './process-metrics.js'
import { SecondsHistogram, type Series } from './seconds-histogram.js'

/** Upper bounds of buckets, from a look-up in memory to a request that waits for a disk. */
const REQUEST_BUCKETS_SECONDS = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const LOOKUP_BUCKETS_SECONDS = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 1e-2, 0.1, 1]

/** One in this many look-ups is timed, because reading the clock twice costs a tenth of a look-up. */
const LOOKUPS_PER_SAMPLE = 16

/** Facts about its store that a reader's metrics show. */
export interface MeasuredStore {
  readonly ledger: LedgerSummary | undefined
  /** Signatures that verify the store, and those that contradict it. */
  readonly trust: LedgerTrust
  /** Statistics of the store; undefined if it is not in a file of this machine. */
  readonly stats?: StoreStats
}

export interface ReaderMetrics {
  readonly registry: Registry
  observeAnswer(answered: AnswerReport): void
  readonly observeView: NonNullable<ViewServiceOptions['onView']>
  readonly observeForward: NonNullable<ForwardOptions['onForward']>
  readonly observeForwarded: NonNullable<ForwardOptions['onForwarded']>
  /** The same state, with look-ups of some reads timed. */
  sampled(state: StateReader): StateReader
}

export function createReaderMetrics(
  store: MeasuredStore,
  processName: string,
  log: ProcessLogger,
  connections: () => number,
): ReaderMetrics {
  const registry = new Registry()
  registerProcessMetrics(registry, processName, log)
  registerStoreMetrics(registry, store)
  new Gauge({
    name: 'ledger_state_http_connections',
    help: 'Open connections.',
    registers: [registry],
    collect() {
      this.set(connections())
    },
  })
  const lookups = new SecondsHistogram(
    {
      name: 'ledger_state_lookup_duration_seconds',
      help: `Lookups of a key at a version, timed in one of ${LOOKUPS_PER_SAMPLE} reads.`,
      bucketsSeconds: LOOKUP_BUCKETS_SECONDS,
    },
    registry,
  ).addSeries({})
  return {
    registry,
    observeAnswer: observeRequests(registry),
    observeView: observeViews(registry),
    ...observeForwards(registry),
    sampled(state) {
      let left = 1
      return {
        get ledger() {
          return state.ledger
        },
        get base() {
          return state.base
        },
        blockAt: (version) => state.blockAt(version),
        blockByHeight: (height) => state.blockByHeight(height),
        blockAtTime: (timestampUsec) => state.blockAtTime(timestampUsec),
        history: (key, options) => state.history(key, options),
        at(version) {
          const view = state.at(version)
          if (--left > 0) return view
          left = LOOKUPS_PER_SAMPLE
          return timedView(view, lookups)
        },
      }
    },
  }
}

/** Answers by route and status. */
function observeRequests(registry: Registry): ReaderMetrics['observeAnswer'] {
  const histogram = new SecondsHistogram(
    {
      name: 'ledger_state_http_request_duration_seconds',
      help: 'Time from the end of the headers of a request until its answer is written to the socket.',
      bucketsSeconds: REQUEST_BUCKETS_SECONDS,
    },
    registry,
  )
  const byRoute = new Map<string, Series[]>()
  function addSeries(route: string, status: number): Series {
    const series = histogram.addSeries({ route, status: String(status) })
    const ofRoute = byRoute.get(route) ?? []
    byRoute.set(route, ofRoute)
    ofRoute[status] = series
    return series
  }
  return ({ route, status, seconds }) => (byRoute.get(route)?.[status] ?? addSeries(route, status)).observe(seconds)
}

/** Requests that go to upstreams, by kind and status. */
function observeForwards(registry: Registry): Pick<ReaderMetrics, 'observeForward' | 'observeForwarded'> {
  const histogram = new SecondsHistogram(
    {
      name: 'ledger_state_forward_duration_seconds',
      help: 'Time of forwarded requests, from their turn until the last byte of the answer.',
      bucketsSeconds: REQUEST_BUCKETS_SECONDS,
    },
    registry,
  )
  const common = { labelNames: ['kind'] as const, registers: [registry] }
  const inFlight = new Gauge({
    ...common,
    name: 'ledger_state_forwards_in_flight',
    help: 'Forwarded requests in progress.',
  })
  const bytes = new Counter({
    ...common,
    name: 'ledger_state_forward_bytes_total',
    help: 'Bytes of answers to forwarded requests, decompressed.',
  })
  const byKind = new Map<string, Series>()
  return {
    observeForward: (kind) => inFlight.inc({ kind }),
    observeForwarded({ kind, status, seconds, bytes: count }) {
      inFlight.dec({ kind })
      bytes.inc({ kind }, count)
      const key = `${kind} ${status}`
      const series = byKind.get(key) ?? histogram.addSeries({ kind, status: String(status) })
      byKind.set(key, series)
      series.observe(seconds)
    },
  }
}

/** Codes with which a view ends that has used up its budget. */
const EXHAUSTED: Readonly<Record<number, string>> = {
  4030: 'instructions',
  4031: 'reads',
  4028: 'memory',
  1124: 'modules',
}

/** Counts views by their outcome, and their use of resources. */
function observeViews(registry: Registry): NonNullable<ViewServiceOptions['onView']> {
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `ledger_state_view_${name}_total`, help, labelNames, registers: [registry] })
  const runs = counter('runs', 'View functions that ended, by their ends.', 'end')
  const exhausted = counter('exhausted', 'View functions whose budget was exhausted, by kind of budget.', 'budget')
  const instructions = counter('instructions', 'Instructions of view functions.')
  const reads = counter('reads', 'Values that view functions read.')
  const readBytes = counter('read_bytes', 'Bytes of values that view functions read.')
  const seconds = counter(
    'seconds',
    'Time from the beginning of view functions to their ends, including the time of other work in between.',
  )
  return ({ isFailed, usage, vmErrorCode, seconds: took }) => {
    runs.inc({ end: isFailed ? 'fault' : 'results' })
    const budget = EXHAUSTED[vmErrorCode ?? 0]
    if (budget !== undefined) exhausted.inc({ budget })
    instructions.inc(usage.instructions)
    reads.inc(usage.reads)
    readBytes.inc(usage.readBytes)
    seconds.inc(took)
  }
}

function timedView(view: StateView, lookups: Series): StateView {
  const timed =
    <T>(look: (key: Uint8Array) => T) =>
    (key: Uint8Array): T => {
      const began = performance.now()
      const found = look(key)
      lookups.observe((performance.now() - began) / 1_000)
      return found
    }
  return {
    version: view.version,
    ledger: view.ledger,
    get: timed((key) => view.get(key)),
    peek: timed((key) => view.peek(key)),
    getEntry: timed((key) => view.getEntry(key)),
    scan: (prefix, options) => view.scan(prefix, options),
  }
}

/** Registers the use of a reader's caches, which is summed over all readers. */
export function registerCacheMetrics(registry: Registry, ledger: Pick<Ledger, 'caches'>): void {
  const common = { labelNames: ['cache'] as const, registers: [registry] }
  new Gauge({
    ...common,
    name: 'ledger_state_cache_bytes',
    help: 'Heap size of a cache, an upper estimate.',
    collect() {
      for (const [cache, { bytes }] of Object.entries(ledger.caches)) this.set({ cache }, bytes)
    },
  })
  new Gauge({
    ...common,
    name: 'ledger_state_cache_capacity_bytes',
    help: 'Maximum heap size of a cache.',
    collect() {
      for (const [cache, { capacityBytes }] of Object.entries(ledger.caches)) this.set({ cache }, capacityBytes)
    },
  })
  new Counter({
    ...common,
    name: 'ledger_state_cache_misses_total',
    help: 'Misses of a cache.',
    collect() {
      this.reset()
      for (const [cache, { misses }] of Object.entries(ledger.caches)) this.inc({ cache }, misses)
    },
  })
}

/**
 * Registers size and window of the store. All readers read the same store, so the largest of their values is the
 * newest.
 */
function registerStoreMetrics(registry: Registry, store: MeasuredStore): void {
  const gauge = (name: string, help: string, read: () => number | undefined): void => {
    new Gauge({
      name: `ledger_state_${name}`,
      help,
      aggregator: 'max',
      registers: [registry],
      collect() {
        const value = read()
        // A gauge without labels would otherwise be 0 from the beginning.
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }
  const ledger = () => store.ledger
  gauge('latest_version', 'Newest version that is served; exact up to 2^53.', () => optional(ledger()?.latestVersion))
  gauge('oldest_version', 'Oldest version that is served; exact up to 2^53.', () => optional(ledger()?.oldestVersion))
  gauge('block_height', 'Height of the newest block.', () => optional(ledger()?.latestBlock.height))
  gauge('epoch', 'Epoch of the newest block.', () => optional(ledger()?.latestBlock.epoch))
  gauge('signed_version', 'Newest version that validators signed; exact up to 2^53.', () =>
    optional(store.trust.signed?.version),
  )
  gauge('signed_power_ratio', 'Share of the voting power that signed it.', () => signedShare(store.trust.signed))
  gauge(
    'contradicted_version',
    'Version up to which validators signed another ledger than the store holds; absent where none did.',
    () => optional(store.trust.contradicted?.version),
  )
  gauge('audited_version', 'Newest version whose state root was audited; absent where none was.', () =>
    optional(store.trust.audited?.version),
  )
  gauge(
    'audit_findings',
    'Times that an audit found another state than the ledger says; absent where nothing was audited.',
    () => store.trust.audited?.findings,
  )
  gauge('ledger_timestamp_seconds', 'Time of the newest block, since 1970.', () => timestampSeconds(store))
  if (store.stats === undefined) return
  const stats = sharedForTurn(() => store.stats!)
  gauge('store_file_bytes', 'Bytes of the catalog and the segment files.', () => stats().fileBytes)
  gauge('store_free_bytes', 'Free bytes in the catalog, which later transactions use.', () => stats().freeBytes)
  gauge('store_payload_bytes', 'Bytes of keys and values that are kept.', () => stats().payloadBytes)
  gauge('store_write_ahead_bytes', 'Size of the WAL files.', () => stats().walBytes)
  gauge('store_table_bytes', 'Memory of a process for commits that are not merged.', () => stats().memtableBytes)
  gauge('store_table_entries', 'Writes that are not merged into segment files.', () => stats().memtableEntries)
  gauge('store_keys', 'Keys with a newest write.', () => stats().keys)
  gauge(
    'store_history_entries',
    'Writes after the oldest version: those that histories list.',
    () => stats().historyEntries,
  )
  gauge(
    'store_reclaimable_bytes',
    'Bytes of the files that no version of the window needs, about: `snapshot --compact` leaves them out.',
    () => stats().reclaimableBytes,
  )
  gauge('store_blocks', 'Blocks in the window.', () => stats().blocks)
  gauge('store_reader_slots_used', 'Processes and threads that read the store now.', () => stats().readers.used)
  gauge('store_reader_slots', 'Most processes and threads that can read the store.', () => stats().readers.most)
}

function signedShare(signed: SignedState | undefined): number | undefined {
  return signed?.power && Number(signed.power.signed) / Number(signed.power.total)
}

/** All gauges of a report are read in one turn of the event loop, so a value that they share is computed once. */
function sharedForTurn<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    if (made === undefined) {
      made = make()
      queueMicrotask(() => {
        made = undefined
      })
    }
    return made
  }
}

function timestampSeconds({ ledger }: MeasuredStore): number | undefined {
  return ledger && Number(ledger.latestBlock.timestampUsec) / 1e6
}

function optional(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value)
}
