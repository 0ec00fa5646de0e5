import type { IngestObserver } from '@ledger-state/ingest'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ProcessLogger } from './logger.js'
import { registerProcessMetrics } from './process-metrics.js'

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export interface WriterMetrics {
  readonly registry: Registry
  readonly observer: IngestObserver
}

export function createWriterMetrics(processName: string, log: ProcessLogger): WriterMetrics {
  const registry = new Registry()
  const registers = [registry]
  registerProcessMetrics(registry, processName, log)
  const commits = new Histogram({
    name: 'ledger_state_commit_duration_seconds',
    help: 'Commits of a batch of versions, until they are on disk.',
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  })
  const counter = (name: string, help: string): Counter =>
    new Counter({ name: `ledger_state_${name}_total`, help, registers })
  const versions = counter('committed_versions', 'Versions that were committed.')
  const entries = counter('committed_entries', 'Writes that were committed.')
  const bytes = counter('committed_bytes', 'Keys and values that were committed.')
  const prunes = new Histogram({
    name: 'ledger_state_prune_duration_seconds',
    help: 'Pruning steps between commits.',
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  })
  const dropped = counter('pruned_entries', 'Superseded values and forgotten deletions that were dropped.')
  const gauge = (name: string, help: string): Gauge => new Gauge({ name: `ledger_state_${name}`, help, registers })
  const versionsLeft = gauge(
    'source_versions_left',
    'Versions that the source, a backup or the followed node, has and this store has not committed yet.',
  )
  const entriesLeft = gauge(
    'source_entries_left',
    'Entries of the state that the backup begins with and this store has not imported yet.',
  )
  const fetched = counter('source_fetched_bytes', 'Bytes that came out of backups at a distance.')
  /** Bytes fetched by earlier backups. The count of the open backup began with 0. */
  let fetchedBefore = 0
  const observer: IngestObserver = {
    onCommit(done) {
      commits.observe(done.seconds)
      versions.inc(done.versions)
      entries.inc(done.writes)
      bytes.inc(done.bytes)
    },
    onPrune(done) {
      prunes.observe(done.seconds)
      dropped.inc(done.entries)
    },
    onSourceProgress(progress) {
      const { unit, total, done, fetchedBytes } = progress
      if (unit === 'entries') entriesLeft.set(Math.max(0, total - done))
      if (unit === 'versions') {
        entriesLeft.set(0)
        versionsLeft.set(Math.max(0, total - done))
      }
      if (fetchedBytes === undefined) return
      fetched.inc(fetchedBytes < fetchedBefore ? fetchedBytes : fetchedBytes - fetchedBefore)
      fetchedBefore = fetchedBytes
    },
  }
  return { registry, observer }
}
