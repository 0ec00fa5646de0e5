import type { ReadQuestion } from '@ledger-state/light-client'
import { useId, useState } from 'preact/hooks'
import type { Trust } from '../api/answers.ts'
import type { ApiRequest } from '../api/client.ts'
import { networkName } from '../api/network-name.ts'
import { formatMicroseconds } from '../state/amount.ts'
import type { Believed } from './proof-task.ts'
import { isSameJson } from './shown.ts'
import { chooseWaypoint, isWaypoint, type TrustedWaypoint, trustedWaypoint } from './trusted-waypoint.ts'
import { type ProofOutcome, useProof } from './use-proof.ts'

interface ProofCardProps {
  readonly question: ReadQuestion
  readonly request: ApiRequest
  /** The value that is shown, as JSON; null where none is. */
  readonly shown: string | null
  readonly version: string
  readonly chainId: string
  readonly trust: Trust
}

/** Who signed the value, and whom the visitor trusts for that. */
export function ProofCard({ question, request, shown, version, chainId, trust }: ProofCardProps) {
  const trusted = trustedWaypoint(chainId, trust.waypoint, version)
  if (!trusted) return null
  const { waypoint } = trusted
  return (
    <div class="proof">
      <Verified
        key={waypoint}
        asked={{ question, request, version, waypoint, hashSalt: trust.hash_salt }}
        shown={shown}
      />
      <TrustedFacts trusted={trusted} chainId={chainId} />
    </div>
  )
}

interface VerifiedProps {
  readonly asked: Parameters<typeof useProof>[0]
  readonly shown: string | null
}

function Verified({ asked, shown }: VerifiedProps) {
  const outcome = useProof(asked)
  const isBelieved = outcome && 'believed' in outcome && isSameJson(shown, outcome.believed.json)
  if (outcome && !isBelieved) return <NotBelieved outcome={outcome} />
  return (
    <p role="status">
      {outcome && 'believed' in outcome ? <Signed believed={outcome.believed} /> : 'Verifying the proof…'}
    </p>
  )
}

function Signed({ believed: { json, epoch, count, timestampUsec } }: { readonly believed: Believed }) {
  return (
    <>
      <strong class="proof-holds">
        {json === null && 'That there is no value is '}
        {count
          ? `signed by ${count.signed} of ${count.total} of epoch ${epoch}`
          : 'signed: it is under the waypoint itself'}
      </strong>
      , verified in this browser. They signed it at {formatMicroseconds(timestampUsec)}.
    </>
  )
}

function NotBelieved({ outcome }: { readonly outcome: ProofOutcome }) {
  if ('unavailable' in outcome) {
    return (
      <p role="status">
        Not verified: <bdi>{outcome.unavailable}</bdi>
      </p>
    )
  }
  const why =
    'refused' in outcome
      ? outcome.refused
      : `the proven value is ${outcome.believed.json ?? 'none'}, and the node showed another one`
  return (
    <section class="notice notice-unproven" role="alert">
      <h2>Do not believe this value: its proof does not hold</h2>
      <p>
        <bdi>{why}</bdi>
      </p>
    </section>
  )
}

const SAID_BY: Readonly<Record<TrustedWaypoint['saidBy'], (network: string) => string>> = {
  visitor: () => 'You chose it.',
  network: (network) => `${network} publishes it.`,
  node: () => 'The node itself says it: this page trusts the node for who the validators are.',
}

/** The waypoint that proofs begin at, and a form for another one. */
function TrustedFacts({ trusted, chainId }: { readonly trusted: TrustedWaypoint; readonly chainId: string }) {
  const [given, setGiven] = useState('')
  const id = useId()
  const text = given.trim()
  return (
    <details class="trusted">
      <summary>
        {trusted.saidBy === 'node' ? 'The node is trusted for the validators' : 'From a trusted waypoint'}
      </summary>
      <p>
        Waypoint <code>{trusted.waypoint}</code>. {SAID_BY[trusted.saidBy](networkName(chainId))}
      </p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isWaypoint(text)) chooseWaypoint(chainId, text)
        }}
      >
        <label for={id}>Trust another waypoint (version:hash), which you have from elsewhere</label>
        <input id={id} type="text" value={given} onInput={(event) => setGiven(event.currentTarget.value)} />
        <button type="submit" disabled={!isWaypoint(text)}>
          Trust it
        </button>
        {trusted.saidBy === 'visitor' && (
          <button type="button" onClick={() => chooseWaypoint(chainId, undefined)}>
            Forget my choice
          </button>
        )}
      </form>
    </details>
  )
}
