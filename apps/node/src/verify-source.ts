import { LedgerStateError } from '@ledger-state/core'
import type { LedgerSource } from '@ledger-state/feed'
import { createProgressReporter, formatCount, formatDuration } from './progress.js'

export interface VerifyOptions {
  readonly from: bigint | undefined
  readonly to: bigint | undefined
  readonly signal: AbortSignal
}

/** Reads and proves a source without a store, and says on standard error what it holds. @throws as `ingestSource` */
export async function verifySource(source: LedgerSource, { from, to, signal }: VerifyOptions): Promise<void> {
  const began = performance.now()
  const progress = createProgressReporter(process.stderr)
  const counters = { versions: 0, entries: 0, writes: 0, bytes: 0, latestVersion: undefined as bigint | undefined }
  let first: bigint | undefined
  const count = (key: Uint8Array, value: Uint8Array | null) => {
    counters.bytes += key.length + (value?.length ?? 0)
  }
  try {
    for await (const { entries } of source.base?.parts(undefined) ?? []) {
      counters.entries += entries.length
      for (const { key, value } of entries) count(key, value)
      progress.update(counters, source.progress)
      if (signal.aborted) break
    }
    if (source.base && !signal.aborted) source.base.describe()
    const version = source.base ? source.base.version + 1n : from
    for await (const record of source.versions({ version, signal })) {
      if (from !== undefined && record.version < from) continue
      if (to !== undefined && record.version > to) break
      if (counters.latestVersion !== undefined && record.version !== counters.latestVersion + 1n) {
        const message = `${source.position}: version ${record.version} follows version ${counters.latestVersion}`
        throw new LedgerStateError('version_gap', message)
      }
      first ??= record.version
      counters.versions++
      counters.writes += record.writes.length
      counters.latestVersion = record.version
      for (const [key, value] of record.writes) count(key, value)
      progress.update(counters, source.progress)
      if (signal.aborted) break
    }
  } finally {
    progress.finish()
    await source.close()
  }
  const took = formatDuration((performance.now() - began) / 1000)
  const state =
    counters.entries > 0
      ? `a state of ${formatCount(counters.entries)} entries at version ${source.base!.version}, `
      : ''
  const range = first === undefined ? '' : ` (${first} to ${counters.latestVersion})`
  const what = `${state}${formatCount(counters.versions)} versions${range}, ${formatCount(counters.writes)} writes`
  // Without a mark nothing was proven: the source carries no hashes, or was told to leave them.
  const outcome = source.mark ? 'sound' : 'read, with nothing proven'
  process.stderr.write(`${signal.aborted ? 'stopped' : outcome}: ${what} in the ${source.description}, in ${took}\n`)
}
