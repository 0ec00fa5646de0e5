import type { LedgerSource, SourceProgress } from '@ledger-state/feed'
import type { IngestCounters, ProgressReporter } from '@ledger-state/ingest'
import type { Logger } from 'pino'
import { formatBytes, formatCount, formatCounted, formatRest } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { type IngestPace, PaceMeter } from './ingest-pace.js'

/**
 * Interval at which the source is looked at. Bytes may come while nothing is ingested: the first chunk of a slow link
 * takes a while.
 */
const LOOK_MS = 1_000
const LOG_INTERVAL_MS = 60_000

const NOTHING = { entries: 0, versions: 0, writes: 0, bytes: 0, latestVersion: undefined }

/**
 * Shows the progress of an ingest on a stream.
 * @param doing the first word of the line
 * @param source source to read the progress from, between its parts; undefined if other sources may follow it
 */
export function createIngestProgress(
  stream: NodeJS.WriteStream,
  doing: string,
  source: LedgerSource | undefined,
): ProgressReporter {
  const line = createProgressLine(stream)
  return reportPace(
    source,
    (pace) => line.update(() => `${doing}: ${paceText(pace())}`),
    () => line.finish(),
  )
}

/** Logs the progress of a backup, one line a minute. */
export function createLoggedProgress(log: Logger, source: LedgerSource): ProgressReporter {
  let next = performance.now() + LOG_INTERVAL_MS
  const show = (pace: () => IngestPace): void => {
    const measured = pace()
    if (performance.now() < next) return
    next = performance.now() + LOG_INTERVAL_MS
    log.info(paceFields(measured), 'ingesting the backup of the network')
  }
  return reportPace(source, show, () => {})
}

function reportPace(
  source: LedgerSource | undefined,
  show: (pace: () => IngestPace) => void,
  finish: () => void,
): ProgressReporter {
  const meter = new PaceMeter()
  let counted: IngestCounters = NOTHING
  const showNow = (progress: SourceProgress): void => show(() => meter.measure(counted, progress, performance.now()))
  const timer = source && setInterval(() => showNow(source.progress), LOOK_MS).unref()
  if (source) meter.measure(counted, source.progress, performance.now())
  return {
    update(counters, progress) {
      counted = counters
      showNow(progress)
    },
    finish() {
      clearInterval(timer)
      finish()
    },
  }
}

/** The most wanted facts come first, because a narrow terminal cuts the line. */
function paceText(pace: IngestPace): string {
  const { latestVersion, progress, bytes, share, secondsLeft } = pace
  const { done, total, unit, fetchedBytes } = progress
  const ofState = `${formatCount(done)} of ${formatCounted(total, 'entry', 'entries')} of the state`
  const ofVersions = latestVersion === undefined ? 'nothing yet' : `version ${latestVersion}`
  const perSecond = (rate: number): string => `${formatBytes(Math.round(rate))}/s`
  const fetched =
    fetchedBytes === undefined
      ? []
      : [`fetched ${formatBytes(fetchedBytes)} at ${perSecond(pace.fetchedBytesPerSecond)}`]
  return [
    unit === 'entries' ? ofState : ofVersions,
    formatRest(share, secondsLeft),
    ...fetched,
    `${formatCount(Math.round(pace.writesPerSecond))} writes/s`,
    `${formatBytes(bytes)} at ${perSecond(pace.bytesPerSecond)}`,
  ].join(', ')
}

function paceFields(pace: IngestPace): Record<string, unknown> {
  const { latestVersion, progress, share, secondsLeft } = pace
  return {
    version: latestVersion?.toString(),
    done: progress.done,
    total: progress.total,
    unit: progress.unit,
    percent: Math.round(share * 1_000) / 10,
    secondsLeft: secondsLeft === undefined ? undefined : Math.round(secondsLeft),
    writesPerSecond: Math.round(pace.writesPerSecond),
    fetchedBytes: progress.fetchedBytes,
    fetchedBytesPerSecond: Math.round(pace.fetchedBytesPerSecond),
  }
}
