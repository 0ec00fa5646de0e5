import { METADATA_LINE } from '../files/backup-directory.js'
import type { VersionRange } from '../files/backup-entries.js'
import { tryBoundedJson } from '../files/bounded-json.js'
import { linesOf } from '../files/lines.js'

/** The ranges that the lines of a metadata file list, in their order. Lines that do not parse are skipped. */
export function parseRanges(text: string): VersionRange[] {
  const ranges: VersionRange[] = []
  for (const line of linesOf(text)) {
    const { TransactionBackup: entry } = (tryBoundedJson(line, METADATA_LINE) ?? {}) as { TransactionBackup?: unknown }
    const { first_version: first, last_version: last } = (entry ?? {}) as Readonly<Record<string, unknown>>
    if (isVersion(first) && isVersion(last)) ranges.push({ firstVersion: BigInt(first), lastVersion: BigInt(last) })
  }
  return ranges
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/**
 * Adds a range to ascending ranges, and joins those that touch. Returns the same array if it already holds the range.
 */
export function addRange(ranges: VersionRange[], added: VersionRange): VersionRange[] {
  const holds = ({ firstVersion, lastVersion }: VersionRange): boolean =>
    firstVersion <= added.firstVersion && added.lastVersion <= lastVersion
  if (ranges.some(holds)) return ranges
  const merged: VersionRange[] = []
  for (const range of [...ranges, added].sort((a, b) => (a.firstVersion < b.firstVersion ? -1 : 1))) {
    const before = merged.at(-1)
    if (!before || range.firstVersion > before.lastVersion + 1n) merged.push(range)
    else if (range.lastVersion > before.lastVersion)
      merged[merged.length - 1] = { ...before, lastVersion: range.lastVersion }
  }
  return merged
}

/** Lines of metadata that list the ranges, all with the same manifest. */
export function rangesToLines(ranges: readonly VersionRange[], manifest: string): string {
  const lines = ranges.map(({ firstVersion, lastVersion }) => {
    const entry = { first_version: Number(firstVersion), last_version: Number(lastVersion), manifest }
    return `${JSON.stringify({ TransactionBackup: entry })}\n`
  })
  return lines.join('')
}
