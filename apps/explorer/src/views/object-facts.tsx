import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { AddressLink, Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { keepFresh } from '../state/keep-fresh.ts'
import { loadObjectFacts, type ObjectFacts } from '../state/object-facts.ts'
import { CollectionTokens } from './collection-tokens.tsx'

interface ObjectFactsProps {
  readonly address: string
  readonly at: string | undefined
  /** The part below the facts. It is drawn once they are known, so that it does not move. */
  readonly children: ComponentChildren
}

/** The facts of an address at a state; undefined if it is no object, or if the node did not answer. */
interface Known {
  readonly of: string
  readonly at: string | undefined
  readonly facts: ObjectFacts | undefined
}

/**
 * The object at an address: a fungible asset, a collection, a token or another object. Draws nothing if it is none of
 * these.
 */
export function ObjectFactsCard({ address, at, children }: ObjectFactsProps) {
  const [known, setKnown] = useState<Known | undefined>(undefined)
  useEffect(() => {
    const fresh = keepFresh({
      async load(signal) {
        const loaded = await loadObjectFacts(address, at, signal)
        if ('facts' in loaded) {
          setKnown({ of: address, at, facts: loaded.facts })
          return undefined
        }
        // Earlier facts stay while the node is lost or busy.
        setKnown((before) =>
          before?.of === address && before.at === at ? before : { of: address, at, facts: undefined },
        )
        return loaded.failure
      },
      isLive: () => at === undefined,
    })
    return fresh.stop
  }, [address, at])
  if (known?.of !== address) return <Loading />
  return (
    <>
      {known.facts && <FactsOfObject address={address} at={at} known={known.facts} />}
      {children}
    </>
  )
}

interface FactsOfObjectProps {
  readonly address: string
  readonly at: string | undefined
  readonly known: ObjectFacts
}

function FactsOfObject({ address, at, known: { kind, title, facts } }: FactsOfObjectProps) {
  return (
    <section class="card" aria-label={`This ${kind}`}>
      <h2>
        {kind[0]!.toUpperCase() + kind.slice(1)} <bdi>{title}</bdi>
      </h2>
      <dl class="members">
        {facts.map(({ name, text, address: linked }) => (
          <div key={name} class="member">
            <dt>{name}</dt>
            <dd>{linked ? <AddressLink address={linked} /> : <bdi>{text}</bdi>}</dd>
          </div>
        ))}
      </dl>
      {kind === 'fungible asset' && (
        <p>
          <Link view={{ name: 'asset', asset: address }}>Supply and holders of this asset</Link>
        </p>
      )}
      {kind === 'collection' && <CollectionTokens collection={address} at={at} />}
    </section>
  )
}
