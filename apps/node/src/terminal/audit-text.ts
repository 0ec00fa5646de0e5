import type { AuditFinding, AuditRecord, DifferingKeys } from '@ledger-state/ingest'
import type { SignedRange } from '@ledger-state/records'
import { formatCount, formatCounted } from './amounts.js'

/** Text about an audit: `to version 247, from version 0: 57 blocks, all as the ledger says`. */
export function describeAudit(record: AuditRecord, signed: SignedRange | undefined): string {
  const { version, from, compared, withoutRoot, findingCount } = record
  const times = findingCount === 1 ? 'once' : formatCounted(findingCount, 'time')
  const result = findingCount === 0 ? 'all as the ledger says' : `${times} not as the ledger says`
  const unknown = withoutRoot > 0 ? `, ${formatCount(withoutRoot)} without a root in the ledger` : ''
  return `to version ${version}, from version ${from}: ${formatCounted(compared, 'block')}, ${result}${unknown}${describeSigned(version, signed)}`
}

function describeSigned(version: bigint, signed: SignedRange | undefined): string {
  if (!signed) return ' (the ledger is not signed)'
  const range = signed.version < version ? `signed to version ${signed.version}` : 'signed'
  return ` (${range}, from the waypoint ${signed.waypoint})`
}

/** Lines about one finding. */
export function describeFinding(finding: AuditFinding): string[] {
  const { goodBefore, firstWrong, lastWrong, goodAfter, given, computed, candidates } = finding
  const end = goodAfter === null ? `at least ${lastWrong}` : `${lastWrong}, right again at ${goodAfter}`
  const before = goodBefore === null ? 'no earlier block is right' : `right at ${goodBefore}`
  const lines = [
    `wrong from version ${firstWrong} to ${end} (block ends; ${before})`,
    `  the state has the root ${computed}, the ledger says ${given}`,
  ]
  if (!candidates) return [...lines, '  the keys cannot be named']
  const { keys, count, writtenAt } = candidates
  const where = {
    both: 'written where it begins and where it is right again',
    either: 'written where it begins or where it is right again',
    begin: 'written where it begins',
  }[writtenAt]
  const more = count > keys.length ? `, the first ${keys.length}` : ''
  const keysText = count === 1 ? 'one key' : `one of ${formatCounted(count, 'key')}`
  lines.push(`  ${keysText} has a wrong value, ${where}${more}:`)
  for (const key of keys) lines.push(`    0x${key}`)
  return lines
}

/** Lines about the keys of a finding that another store names. */
export function describeDiffering(
  { firstWrong }: Pick<AuditFinding, 'firstWrong'>,
  other: string,
  { keys, count }: DifferingKeys,
): string[] {
  const more = count > keys.length ? `, the first ${keys.length}` : ''
  const head = `${formatCounted(count, 'key differs', 'keys differ')} from ${other} at version ${firstWrong}${more}:`
  return [head, ...keys.map((key) => `    0x${key}`)]
}
