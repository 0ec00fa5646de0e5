import type { NodeInfo, Slice, Trust } from '../api/answers.ts'
import type { StateHead } from '../api/state-head.ts'
import { groupDigits } from './amount.ts'

/** The first thing that a visitor wants to know: how much of the chain is here, and who signed it. */
export function summaryWords(
  { oldestVersion, version }: Pick<StateHead, 'oldestVersion' | 'version'>,
  trust: Trust | undefined,
  slice: Slice | undefined,
  info: Pick<NodeInfo, 'base' | 'base_version'> | undefined,
): string {
  const isWhole = !slice?.asked && info?.base !== 'assumed_empty'
  const what = isWhole ? 'every state' : 'a part of every state'
  const versions = `from version ${groupDigits(oldestVersion)} to ${groupDigits(version)}`
  const missing =
    info?.base === 'assumed_empty' ? `, without values that were written before ${groupDigits(info.base_version)}` : ''
  const kept = `This node has ${what} ${versions}${missing}.`
  if (!trust) return kept
  if (trust.waypoint === null || trust.signed_version === null)
    return `${kept} Nobody has signed it: the node has verified no signatures of validators.`
  const upTo = `up to version ${groupDigits(trust.signed_version)}`
  return trust.signed_power === null
    ? `${kept} The trusted waypoint itself vouches for it ${upTo}.`
    : `${kept} Validators signed it ${upTo}.`
}
