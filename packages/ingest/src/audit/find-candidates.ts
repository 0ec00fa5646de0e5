import { bytesToHexDigits } from '@ledger-state/core'
import { isOwnKey } from '@ledger-state/records'
import type { AuditCandidates, AuditFinding } from './audit-record.js'
import { type AuditedEngine, readRangeWrites } from './range-writes.js'

/** Most keys of a finding that are listed, and most that are remembered while they are collected. */
const MOST_LISTED = 16
const MOST_COLLECTED = 200_000

const BEGIN = 1
const END = 2

/** Versions in which a finding begins or ends. */
interface Span {
  readonly first: bigint
  readonly last: bigint
  readonly finding: number
  readonly side: number
}

/**
 * Adds to findings the keys that may have the wrong value: the roots differ from the write that is wrong until its key
 * is written again. It takes one pass over the writes of the blocks between.
 */
export async function findCandidates(
  engine: AuditedEngine,
  findings: readonly AuditFinding[],
  signal: AbortSignal | undefined,
): Promise<AuditFinding[]> {
  const { oldestVersion } = engine.ledger!
  const spans = findings.flatMap((finding, index) => spansOf(finding, index, oldestVersion))
  spans.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  const sides = findings.map(() => new Map<string, number>())
  if (spans.length > 0) {
    const last = spans.reduce((most, span) => (span.last > most ? span.last : most), 0n)
    let collected = 0
    await readRangeWrites(engine, { first: spans[0]!.first, last, signal }, ({ version, key }) => {
      if (isOwnKey(key)) return undefined
      for (const span of spans) {
        if (span.first > version) break
        if (version > span.last || collected > MOST_COLLECTED) continue
        const hex = bytesToHexDigits(key)
        const side = sides[span.finding]!
        if (!side.has(hex)) collected++
        side.set(hex, (side.get(hex) ?? 0) | span.side)
      }
      return undefined
    })
  }
  return findings.map((finding, index) => {
    if (!spans.some((span) => span.finding === index)) return finding
    return { ...finding, candidates: toCandidates(sides[index]!, finding.goodAfter !== null) }
  })
}

/** Whether the candidates of a finding are to be found: at first, and again once its end is known. */
export function lacksCandidates({ candidates, goodAfter }: Pick<AuditFinding, 'candidates' | 'goodAfter'>): boolean {
  return candidates === null || (candidates.writtenAt === 'begin' && goodAfter !== null)
}

function spansOf(
  { goodBefore, firstWrong, lastWrong, goodAfter, candidates }: AuditFinding,
  finding: number,
  oldest: bigint,
): Span[] {
  // The base has too many keys to name some.
  if (!lacksCandidates({ candidates, goodAfter }) || goodBefore === null || goodBefore < oldest) return []
  const spans = [{ first: goodBefore + 1n, last: firstWrong, finding, side: BEGIN }]
  if (goodAfter !== null) spans.push({ first: lastWrong + 1n, last: goodAfter, finding, side: END })
  return spans
}

function toCandidates(sides: ReadonlyMap<string, number>, hasEnd: boolean): AuditCandidates {
  const all = [...sides]
  const both = all.filter(([, side]) => side === (BEGIN | END))
  const chosen = both.length > 0 ? both : all
  return {
    keys: chosen.slice(0, MOST_LISTED).map(([key]) => key),
    count: chosen.length,
    writtenAt: !hasEnd ? 'begin' : both.length > 0 ? 'both' : 'either',
  }
}
