import { useEffect, useState } from 'preact/hooks'
import { AddressLink, Link } from '../components/link.tsx'
import { loadObjectFacts, type ObjectFacts } from '../state/object-facts.ts'
import { CollectionTokens } from './collection-tokens.tsx'

interface ObjectFactsProps {
  readonly address: string
  readonly at: string | undefined
}

/**
 * The object at an address: a fungible asset, a collection, a token or another object. Draws nothing if it is none of
 * these.
 */
export function ObjectFactsCard({ address, at }: ObjectFactsProps) {
  const [known, setKnown] = useState<ObjectFacts | undefined>(undefined)
  useEffect(() => {
    const stop = new AbortController()
    setKnown(undefined)
    loadObjectFacts(address, at, stop.signal).then(setKnown, () => {})
    return () => stop.abort()
  }, [address, at])
  if (!known) return null
  const { kind, title, facts } = known
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
