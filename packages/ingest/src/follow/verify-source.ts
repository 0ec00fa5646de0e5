import type { LedgerSource } from '@ledger-state/feed'
import type { TrustedState } from '@ledger-state/records'
import { CountedIngest, type IngestCounters, type ProgressReporter } from '../commit/counters.js'
import { versionGap } from '../errors.js'

/** Versions of a source to read, a callback for progress, and a signal that stops the reading. */
export interface VerifySourceOptions {
  /** First version to read. */
  readonly from?: bigint | undefined
  /** Last version to read. */
  readonly to?: bigint | undefined
  /** Stops the reading between versions. */
  readonly signal?: AbortSignal | undefined
  readonly progress?: ProgressReporter | undefined
}

/** Counts of the data read from a source, and whether it was proven. */
export interface VerifiedSource extends IngestCounters {
  /** First version that was read; undefined if the source has no version that was asked for. */
  readonly firstVersion: bigint | undefined
  /** Whether all was proven. False if the source carries no hashes, or was opened without comparing them. */
  readonly isProven: boolean
  /** The validators that verify all that was read; undefined if none do. */
  readonly trustedState: TrustedState | undefined
}

/**
 * Reads and proves a source to its end without a store. Closes the source.
 * @throws errors of the source; `version_gap`
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs'
 * import { feedHeaderLine, openSource, versionToFeedLine } from '@ledger-state/feed'
 * import { verifySource } from '@ledger-state/ingest'
 *
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * const lines = [feedHeaderLine({ chainId: 4 }), versionToFeedLine({ version: 0n, block, writes: [] })]
 * writeFileSync('three.ndjson', `${lines.join('\n')}\n`)
 *
 * const { versions, isProven } = await verifySource(await openSource('three.ndjson'))
 * console.log(versions, isProven) // 1 false
 * ```
 */
export async function verifySource(source: LedgerSource, options: VerifySourceOptions = {}): Promise<VerifiedSource> {
  const { from, to, signal, progress } = options
  const counters = new CountedIngest()
  let firstVersion: bigint | undefined
  try {
    for await (const part of source.base?.parts(undefined) ?? []) {
      counters.addState(part)
      progress?.update(counters, source.progress)
      if (signal?.aborted) break
    }
    if (source.base && !signal?.aborted) source.base.describe()
    const version = source.base ? source.base.version + 1n : from
    for await (const record of source.versions({ version, signal })) {
      if (from !== undefined && record.version < from) continue
      if (to !== undefined && record.version > to) break
      const { latestVersion } = counters
      if (latestVersion !== undefined && record.version !== latestVersion + 1n) {
        throw versionGap.gapInSource(source.position, record.version, latestVersion)
      }
      firstVersion ??= record.version
      counters.addVersion(record)
      progress?.update(counters, source.progress)
      if (signal?.aborted) break
    }
  } finally {
    progress?.finish()
    await source.close()
  }
  const { versions, entries, writes, bytes, latestVersion } = counters
  return {
    versions,
    entries,
    writes,
    bytes,
    latestVersion,
    firstVersion,
    isProven: source.mark !== undefined,
    trustedState: source.trustedState,
  }
}
