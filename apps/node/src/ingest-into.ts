import type { LedgerSource, SourceOptions } from '@ledger-state/feed'
import { type IngestOptions, ingestSource, verifySource } from '@ledger-state/ingest'
import { openStateEngine } from '@ledger-state/state-engine'
import type { CommandInput } from './command-line.js'
import { settings } from './config/settings.js'
import { usageError } from './option.js'
import { createProgressReporter, formatCount, formatDuration } from './progress.js'

export interface IngestSettings {
  readonly retain: bigint | undefined
  readonly assumeEmptyBase: boolean
  readonly chainId: number | undefined
  readonly source: SourceOptions
}

export function parseIngestSettings(input: CommandInput): IngestSettings {
  const waypoint = input.get(settings.waypoint)
  const verify = input.get(settings.verify)
  if (waypoint !== undefined && !verify) throw usageError('--waypoint and --no-verify contradict each other')
  return {
    retain: input.get(settings.retain),
    assumeEmptyBase: input.get(settings.assumeEmptyBase),
    chainId: input.get(settings.chainId),
    source: { waypoint, verify, hashSalt: input.get(settings.hashSalt), onNotice: notice },
  }
}

type IngestIntoOptions = Omit<IngestOptions, 'progress' | 'onNotice'> & { readonly signal: AbortSignal }

/** Ingests a source into the store of a folder and says on standard error what came of it. */
export async function ingestInto(dataDir: string, source: LedgerSource, options: IngestIntoOptions): Promise<void> {
  const began = performance.now()
  try {
    const engine = openStateEngine({ path: dataDir, verifyReads: true })
    try {
      const progress = createProgressReporter(process.stderr)
      const counters = await ingestSource(engine, source, { ...options, progress, onNotice: notice })
      const took = formatDuration((performance.now() - began) / 1000)
      const state = counters.entries > 0 ? `a state of ${formatCount(counters.entries)} entries, ` : ''
      const what = `${state}${formatCount(counters.versions)} versions, ${formatCount(counters.writes)} writes`
      const { ledger } = engine
      const upTo = ledger
        ? `the store holds versions ${ledger.oldestVersion} to ${ledger.latestVersion}`
        : 'the store is empty'
      const outcome = options.signal.aborted ? 'stopped; run it again to go on' : 'ingested'
      process.stderr.write(`${outcome}: ${what} from the ${source.description} in ${took}; ${upTo}\n`)
    } finally {
      await engine.close()
    }
  } finally {
    await source.close()
  }
}

/** Reads and proves a source without a store, and says on standard error what it holds. */
export async function proveSource(
  source: LedgerSource,
  range: { readonly from: bigint | undefined; readonly to: bigint | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const began = performance.now()
  const verified = await verifySource(source, { ...range, progress: createProgressReporter(process.stderr, 'proving') })
  const { versions, entries, writes, firstVersion, latestVersion, isProven } = verified
  const took = formatDuration((performance.now() - began) / 1000)
  const state = entries > 0 ? `a state of ${formatCount(entries)} entries at version ${source.base!.version}, ` : ''
  const covered = firstVersion === undefined ? '' : ` (${firstVersion} to ${latestVersion})`
  const what = `${state}${formatCount(versions)} versions${covered}, ${formatCount(writes)} writes`
  const outcome = isProven ? 'sound' : 'read, with nothing proven'
  const verdict = range.signal.aborted ? 'stopped' : outcome
  process.stderr.write(`${verdict}: ${what} in the ${source.description}, in ${took}\n`)
}

export function notice(message: string): void {
  process.stderr.write(`${message}\n`)
}
