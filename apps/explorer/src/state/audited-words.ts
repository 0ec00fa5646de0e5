import type { Trust } from '../api/answers.ts'
import { groupDigits } from './amount.ts'

/** Hex digits of a waypoint that are shown. */
const SHOWN_DIGITS = 4

/** The audited versions of the node, in the words of `ledger-state info`; undefined if it audited nothing. */
export function auditedWords(trust: Trust): string | undefined {
  const { audited_version: version, audited_from_version: from, audit_findings: findings } = trust
  if (version === null) return undefined
  const to = groupDigits(version)
  if (findings !== 0) return `an audit found that the state differs from the ledger: ${findings}×, to version ${to}`
  return `audited to version ${to}, from version ${groupDigits(from ?? '0')} (${signedWords(trust, version)})`
}

function signedWords({ waypoint, signed_version: signed }: Trust, audited: string): string {
  if (waypoint === null || signed === null) return 'the ledger is not signed'
  const range = BigInt(signed) < BigInt(audited) ? `signed to version ${groupDigits(signed)}` : 'signed'
  const [version, hash = ''] = waypoint.split(':')
  return `${range}, from the waypoint ${version}:${hash.slice(0, SHOWN_DIGITS)}…`
}
