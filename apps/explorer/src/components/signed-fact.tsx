import type { Trust } from '../api/answers.ts'
import { groupDigits } from '../state/amount.ts'
import { auditedWords } from '../state/audited-words.ts'

/** The versions of the ledger that validators signed, and those that the node audited, in the words of `ledger-state info`. */
export function SignedFact({ trust }: { readonly trust: Trust }) {
  const { waypoint, signed_version: version, contradicted_version: contradicted } = trust
  const audited = auditedWords(trust)
  return (
    <div class="signed">
      <dt>Signed</dt>
      {waypoint === null || version === null ? (
        <dd class="signed-words">no verified signatures</dd>
      ) : (
        <dd class="signed-words" title={`from the waypoint ${waypoint}`}>
          to version {groupDigits(version)}
          {signersOf(trust)}
        </dd>
      )}
      {audited !== undefined && (
        <dd title="the state root at the end of each block is compared with the root that the ledger says">
          {audited}
        </dd>
      )}
      {contradicted !== null && (
        <dd class="signed-words">
          validators signed another ledger up to version {groupDigits(contradicted)}: the rest is not served
        </dd>
      )}
    </div>
  )
}

function signersOf({ signed_power: signed, total_power: total, signed_epoch: epoch }: Trust): string {
  if (signed === null || total === null) return ', by the waypoint itself'
  return `, by ${groupDigits(signed)} of ${groupDigits(total)} of the voting power of epoch ${epoch}`
}
