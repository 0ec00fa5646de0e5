import type { Trust } from '../api/answers.ts'
import { groupDigits } from '../state/amount.ts'

/** The versions of the ledger that validators signed, in the words of `ledger-state info`. */
export function SignedFact({ trust }: { readonly trust: Trust }) {
  const { waypoint, signed_version: version, contradicted_version: contradicted } = trust
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
