import type { LedgerSource } from '@ledger-state/feed'
import { openStateEngine } from '@ledger-state/state-engine'
import { ingestSource } from './ingest-source.js'
import { createProgressReporter, formatCount, formatDuration } from './progress.js'

export interface IngestIntoOptions {
  readonly to?: bigint | undefined
  readonly retain?: bigint | undefined
  readonly signal: AbortSignal
}

/** Ingests a source into the store of a folder and says on standard error what came of it. */
export async function ingestInto(dataDir: string, source: LedgerSource, options: IngestIntoOptions): Promise<void> {
  const engine = openStateEngine({ path: dataDir })
  const began = performance.now()
  try {
    const counters = await ingestSource(engine, source, {
      ...options,
      progress: createProgressReporter(process.stderr),
    })
    const took = formatDuration((performance.now() - began) / 1000)
    const what = `${formatCount(counters.versions)} versions, ${formatCount(counters.writes)} writes`
    const upTo =
      counters.latestVersion === undefined
        ? 'the store is empty'
        : `the store holds versions ${engine.ledger!.oldestVersion} to ${counters.latestVersion}`
    const outcome = options.signal.aborted ? 'stopped; run it again to go on' : 'ingested'
    process.stderr.write(`${outcome}: ${what} from the ${source.description} in ${took}; ${upTo}\n`)
  } finally {
    await source.close()
    await engine.close()
  }
}
