import type { VersionRange } from '../files/backup-entries.js'

/** The ranges that the lines of a metadata file list, in their order. Lines that do not parse are skipped. */
export function parseRanges(text: string): VersionRange[] {
  return text.split('\n').flatMap((line): VersionRange[] => {
    try {
      const { first_version: first, last_version: last } = JSON.parse(line).TransactionBackup
      return [{ firstVersion: BigInt(first), lastVersion: BigInt(last) }]
    } catch {
      return []
    }
  })
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
