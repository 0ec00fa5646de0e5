import { LedgerStateError, type VersionWrites } from '@ledger-state/core'
import type { LedgerSource } from '@ledger-state/feed'
import type { StateEngine } from '@ledger-state/state-engine'
import type { IngestCounters, ProgressReporter } from './progress.js'

// A batch becomes durable with one flush of the disk, and is what a crash may cost.
const BATCH_VERSIONS = 1_000
const BATCH_WRITES = 10_000
const BATCH_BYTES = 16 * 1024 * 1024

export interface IngestOptions {
  /** Last version to take in. */
  readonly to?: bigint | undefined
  /** Window in versions; pruned to while ingesting. */
  readonly retain?: bigint | undefined
  /** Stops between versions; what was read is committed. */
  readonly signal?: AbortSignal | undefined
  readonly progress?: ProgressReporter | undefined
}

/**
 * Takes in what a source holds and the store does not. Versions that the store has are skipped, so an ingest that was
 * cut short is gone on with by the same call. What precedes a fault in the source is committed.
 * @throws `invalid_feed` and the like, naming the place; `chain_id_mismatch`, `version_gap`; errors of the store
 */
export async function ingestSource(
  engine: StateEngine,
  source: LedgerSource,
  options: IngestOptions = {},
): Promise<IngestCounters> {
  const { to, retain, signal, progress } = options
  const { chainId } = source
  const held = engine.ledger
  if (held && held.chainId !== chainId) {
    const message = `${source.position}: the source is of chain ${chainId}, the store holds chain ${held.chainId}`
    throw new LedgerStateError('chain_id_mismatch', message)
  }
  let expected = held ? held.latestVersion + 1n : 0n
  const counters = { versions: 0, writes: 0, latestVersion: held?.latestVersion }
  const batch = new Batch()

  const flush = async (): Promise<void> => {
    if (batch.versions.length === 0) return
    const versions = batch.take()
    await engine.commit(versions, { chainId })
    counters.versions += versions.length
    counters.writes += versions.reduce((sum, { writes }) => sum + writes.length, 0)
    counters.latestVersion = versions.at(-1)!.version
    if (retain !== undefined) await engine.prune(retain)
    progress?.update(counters, source.progress)
  }

  try {
    for await (const record of source.versions()) {
      if (signal?.aborted || (to !== undefined && record.version > to)) break
      if (record.version < expected) continue
      if (record.version > expected)
        throw versionGap(source, record.version, held !== undefined || expected > 0n, expected)
      expected++
      batch.add(record)
      if (batch.isFull) await flush()
    }
  } catch (error) {
    await flush()
    throw error
  } finally {
    progress?.finish()
  }
  await flush()
  if (retain !== undefined && engine.ledger) await engine.prune(retain)
  return counters
}

function versionGap(source: LedgerSource, found: bigint, holdsVersions: boolean, expected: bigint): LedgerStateError {
  const why = holdsVersions
    ? `the store goes on at version ${expected}`
    : 'the store is empty, so it must begin at version 0'
  return new LedgerStateError('version_gap', `${source.position}: version ${found}, but ${why}`, { expected, found })
}

class Batch {
  versions: VersionWrites[] = []
  #writes = 0
  #bytes = 0

  get isFull(): boolean {
    return this.versions.length >= BATCH_VERSIONS || this.#writes >= BATCH_WRITES || this.#bytes >= BATCH_BYTES
  }

  add(record: VersionWrites): void {
    this.versions.push(record)
    this.#writes += record.writes.length
    for (const [key, value] of record.writes) this.#bytes += key.length + (value?.length ?? 0)
  }

  take(): VersionWrites[] {
    const { versions } = this
    this.versions = []
    this.#writes = 0
    this.#bytes = 0
    return versions
  }
}
