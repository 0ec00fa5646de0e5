import { LedgerStateError } from '@ledger-state/core'
import type { LedgerSource } from '@ledger-state/feed'
import type { IngestCounters, ProgressReporter } from './progress.js'

export interface VerifyOptions {
  /** First version to read. */
  readonly from?: bigint | undefined
  /** Last version to read. */
  readonly to?: bigint | undefined
  /** Stops between versions. */
  readonly signal?: AbortSignal | undefined
  readonly progress?: ProgressReporter | undefined
}

export interface VerifiedSource extends IngestCounters {
  /** Undefined where the source holds no version that was asked for. */
  readonly firstVersion: bigint | undefined
  /** False where the source carries no hashes, or was opened to leave them unread. */
  readonly isProven: boolean
}

/** Reads and proves a source to its end without a store. Closes the source. @throws as `ingestSource` */
export async function verifySource(source: LedgerSource, options: VerifyOptions = {}): Promise<VerifiedSource> {
  const { from, to, signal, progress } = options
  const counters = { versions: 0, entries: 0, writes: 0, bytes: 0, latestVersion: undefined as bigint | undefined }
  let firstVersion: bigint | undefined
  const count = (key: Uint8Array, value: Uint8Array | null) => {
    counters.bytes += key.length + (value?.length ?? 0)
  }
  try {
    for await (const { entries } of source.base?.parts(undefined) ?? []) {
      counters.entries += entries.length
      for (const { key, value } of entries) count(key, value)
      progress?.update(counters, source.progress)
      if (signal?.aborted) break
    }
    if (source.base && !signal?.aborted) source.base.describe()
    const version = source.base ? source.base.version + 1n : from
    for await (const record of source.versions({ version, signal })) {
      if (from !== undefined && record.version < from) continue
      if (to !== undefined && record.version > to) break
      if (counters.latestVersion !== undefined && record.version !== counters.latestVersion + 1n) {
        const message = `${source.position}: version ${record.version} follows version ${counters.latestVersion}`
        throw new LedgerStateError('version_gap', message)
      }
      firstVersion ??= record.version
      counters.versions++
      counters.writes += record.writes.length
      counters.latestVersion = record.version
      for (const [key, value] of record.writes) count(key, value)
      progress?.update(counters, source.progress)
      if (signal?.aborted) break
    }
  } finally {
    progress?.finish()
    await source.close()
  }
  return { ...counters, firstVersion, isProven: source.mark !== undefined }
}
