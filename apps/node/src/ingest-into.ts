import type { LedgerSource, SourceOptions } from '@ledger-state/feed'
import { openStateEngine } from '@ledger-state/state-engine'
import { type CommandInput, parseOptionalChainId, parseRetain, usageError } from './command-line.js'
import { type IngestOptions, ingestSource } from './ingest-source.js'
import { createProgressReporter, formatCount, formatDuration } from './progress.js'

export interface IngestSettings {
  readonly retain: bigint | undefined
  readonly assumeEmptyBase: boolean
  readonly chainId: number | undefined
  readonly source: SourceOptions
}

export function parseIngestSettings(input: CommandInput): IngestSettings {
  const waypoint = input.option('waypoint')
  if (waypoint !== undefined && !/^\d+:[0-9a-f]{64}$/.test(waypoint)) {
    throw usageError(`--waypoint: ${JSON.stringify(waypoint)} is no VERSION:HASH with 64 hex digits`)
  }
  const verify = !input.flag('no-verify')
  if (waypoint !== undefined && !verify) throw usageError('--waypoint and --no-verify contradict each other')
  return {
    retain: parseRetain(input),
    assumeEmptyBase: input.flag('assume-empty-base'),
    chainId: parseOptionalChainId(input),
    source: { waypoint, verify, hashSalt: input.option('hash-salt'), onNotice: notice },
  }
}

type IngestIntoOptions = Omit<IngestOptions, 'progress' | 'onNotice'> & { readonly signal: AbortSignal }

/** Ingests a source into the store of a folder and says on standard error what came of it. */
export async function ingestInto(dataDir: string, source: LedgerSource, options: IngestIntoOptions): Promise<void> {
  const began = performance.now()
  try {
    const engine = openStateEngine({ path: dataDir })
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

export function notice(message: string): void {
  process.stderr.write(`${message}\n`)
}
