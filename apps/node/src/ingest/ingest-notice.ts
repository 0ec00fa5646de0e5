import type { LedgerSource } from '@ledger-state/feed'
import type { IngestCounters } from '@ledger-state/ingest'
import { formatCounted, formatDuration } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import { CLEARED_LINE } from '../terminal/progress-line.js'

/** Describes the data read. `covered` is a text about the versions that follows their number. */
export function describeIngested(
  { base }: LedgerSource,
  { entries, versions, writes }: IngestCounters,
  covered = '',
): string {
  const state =
    entries > 0 ? `a state of ${formatCounted(entries, 'entry', 'entries')} at version ${base!.version}, ` : ''
  return `${state}${formatCounted(versions, 'version')}${covered}, ${formatCounted(writes, 'write')}`
}

export function durationSince(began: number): string {
  return formatDuration((performance.now() - began) / 1_000)
}

/** Prints a line on standard error. */
export function notice(message: string): void {
  // Clears a line of progress that may be on the terminal.
  writeNotice(message, process.stderr.isTTY ? CLEARED_LINE : '')
}
