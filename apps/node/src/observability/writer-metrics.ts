import type { IngestObserver } from '@ledger-state/ingest'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { registerProcessMetrics } from './process-metrics.js'

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export interface WriterMetrics {
  readonly registry: Registry
  readonly observer: IngestObserver
}

export function createWriterMetrics(processName: string): WriterMetrics {
  const registry = new Registry()
  const registers = [registry]
  registerProcessMetrics(registry, processName)
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
    help: 'Turns of pruning between commits.',
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  })
  const dropped = counter('pruned_entries', 'Superseded values and forgotten deletions that were dropped.')
  const left = new Gauge({
    name: 'ledger_state_source_versions_left',
    help: 'Versions that the followed node has and this store has not committed yet.',
    registers,
  })
  const fetched = new Gauge({
    name: 'ledger_state_source_fetched_bytes',
    help: 'Bytes that came out of the backup that is ingested, since the process began.',
    registers,
  })
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
      if (progress.unit === 'versions') left.set(Math.max(0, progress.total - progress.done))
      if (progress.fetchedBytes !== undefined) fetched.set(progress.fetchedBytes)
    },
  }
  return { registry, observer }
}
