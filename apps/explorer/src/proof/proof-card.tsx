import { moduleRequest } from '@ledger-state/light-client'
import { useId, useState } from 'preact/hooks'
import type { ApiRequest } from '../api/client.ts'
import { networkName } from '../api/network-name.ts'
import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import type { ProofPlace } from './proof-place.tsx'
import type { Believed, ProofResult, ProvableQuestion, Reached } from './proof-task.ts'
import type { ProofsOfList } from './proofs-of-list.ts'
import { isSameJson } from './shown.ts'
import { chooseWaypoint, isWaypoint, type TrustedWaypoint, trustedWaypoint } from './trusted-waypoint.ts'
import { type ProofRequest, useProof } from './use-proof.ts'

interface ProvenValue {
  readonly question: ProvableQuestion
  readonly request: ApiRequest
  /** The shown value as JSON; null if there is none. */
  readonly shown: string | null
  readonly place: ProofPlace
}

/** A card that says who signed a value, and whom the visitor trusts for that. */
export function ProofCard(value: ProvenValue) {
  const trusted = trustedAt(value.place)
  if (!trusted) return null
  return (
    <div class="proof">
      <Verified key={trusted.waypoint} asked={requestOf(value, trusted)} shown={value.shown} />
      <TrustedFacts trusted={trusted} chainId={value.place.chainId} />
    </div>
  )
}

/** A card that says which part of a list is proven, and whom the visitor trusts for that. */
export function ProvenListCard({ place, what }: { readonly place: ProofPlace; readonly what: string }) {
  const trusted = trustedAt(place)
  if (!trusted) return null
  return (
    <div class="proof">
      <p class="hint">{what} That the list is whole is not proven.</p>
      <TrustedFacts trusted={trusted} chainId={place.chainId} />
    </div>
  )
}

/**
 * A card that says who signed an entry of a list. The first entries that come into sight are verified, others when the
 * visitor asks.
 */
export function EntryCard({ proofs, ...value }: ProvenValue & { readonly proofs: ProofsOfList }) {
  const [, askedFor] = useState(false)
  const trusted = trustedAt(value.place)
  if (!trusted) return null
  const asked = requestOf(value, trusted)
  const name = `${trusted.waypoint} ${asked.request.path} ${asked.request.body ?? ''}`
  if (proofs.admits(name)) {
    return (
      <div class="proof">
        <Verified key={name} asked={asked} shown={value.shown} known={[proofs, name]} />
      </div>
    )
  }
  const ask = (): void => {
    proofs.ask(name)
    askedFor(true)
  }
  return (
    <p class="proof hint">
      Not verified yet.{' '}
      <button type="button" onClick={ask}>
        Verify it
      </button>
    </p>
  )
}

function trustedAt({ chainId, trust, version }: ProofPlace): TrustedWaypoint | undefined {
  return trustedWaypoint(chainId, trust.waypoint, version)
}

function requestOf({ question, request, place }: ProvenValue, { waypoint }: TrustedWaypoint): ProofRequest {
  // The answer that the view of a module reads has no proof. The state value with the module has one.
  const provable = question.kind === 'module' ? moduleRequest(question) : request
  return { question, request: provable, version: place.version, waypoint, hashSalt: place.trust.hash_salt }
}

interface VerifiedProps {
  readonly asked: ProofRequest
  readonly shown: string | null
  /** The list that keeps the outcome, and the entry's name in it, for the next time that the entry comes into sight. */
  readonly known?: readonly [ProofsOfList | undefined, string]
}

function Verified({ asked, shown, known: [proofs, name] = NOWHERE }: VerifiedProps) {
  const { outcome, reached } = useProof(asked, proofs?.outcomeOf(name))
  if (outcome) proofs?.keep(name, outcome)
  const isBelieved = outcome && 'believed' in outcome && isSameJson(shown, outcome.believed)
  if (outcome && !isBelieved) return <NotBelieved outcome={outcome} />
  return (
    <p role="status">
      {outcome && 'believed' in outcome ? <Signed believed={outcome.believed} /> : <Verifying reached={reached} />}
    </p>
  )
}

const NOWHERE: readonly [undefined, string] = [undefined, '']

function Verifying({ reached }: { readonly reached: Reached | undefined }) {
  if (!reached || reached.epoch === reached.lastEpoch) return <>Verifying the proof…</>
  return (
    <>
      Verifying the proof… epoch {groupDigits(reached.epoch)} of {groupDigits(reached.lastEpoch)}
    </>
  )
}

function Signed({ believed: { json, computedFrom, epoch, count, timestampUsec } }: { readonly believed: Believed }) {
  return (
    <>
      <strong class="proof-holds">
        {json === null && 'That there is no value is '}
        {computedFrom !== null && `Computed here from ${computedFrom} values, `}
        {count
          ? `signed by ${count.signed} of ${count.total} of epoch ${epoch}`
          : 'signed: it is under the waypoint itself'}
      </strong>
      , verified in this browser. They signed it at {formatMicroseconds(timestampUsec)}.
    </>
  )
}

function NotBelieved({ outcome }: { readonly outcome: ProofResult }) {
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
      : `the proven value is ${outcome.believed.json ?? 'none'}, but the node showed a different one`
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

/** The waypoint at which proofs begin, and a form to choose another. */
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
