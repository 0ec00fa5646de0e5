import type { LedgerSource } from '@ledger-state/feed'

/** What a source has proven up to a version: its mark after that version, and the validators that verify it. */
export type ProvenBySource = Pick<LedgerSource, 'mark' | 'trustedState'>

/** What a source has proven up to the version that it yielded last. */
export function provenBy({ mark, trustedState }: LedgerSource): ProvenBySource {
  return { mark, trustedState }
}
