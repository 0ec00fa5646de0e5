import { useEffect, useState } from 'preact/hooks'
import { AddressLink } from '../components/link.tsx'
import { formatAmount } from '../state/amount.ts'
import { type Holding, loadHoldings, loadObjectFacts, type ObjectFacts } from '../state/object-facts.ts'

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
  const { kind, title, facts, decimals } = known
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
      {kind === 'fungible asset' && <Holders asset={address} at={at} decimals={decimals} />}
    </section>
  )
}

interface HoldersProps {
  readonly asset: string
  readonly at: string | undefined
  readonly decimals: number
}

interface Search {
  readonly found: readonly Holding[]
  readonly cursor: string | undefined
  readonly isEnded: boolean
}

/** Holders of an asset. There is no index of them: each click looks at more stores. */
function Holders({ asset, at, decimals }: HoldersProps) {
  const [search, setSearch] = useState<Search | undefined>(undefined)
  const [isRunning, setRunning] = useState(false)
  const look = async (): Promise<void> => {
    setRunning(true)
    const page = await loadHoldings(asset, search?.cursor, at, new AbortController().signal)
    const found = [...(search?.found ?? []), ...page.holdings]
    setSearch({ found, cursor: page.cursor, isEnded: page.cursor === undefined })
    setRunning(false)
  }
  return (
    <>
      {search && search.found.length > 0 && (
        <ul class="functions" aria-label="Holders">
          {search.found.map(({ store, owner, balance }) => (
            <li key={store}>
              <AddressLink address={owner} /> <span class="number">{formatAmount(balance, decimals)}</span>
            </li>
          ))}
        </ul>
      )}
      {search && search.found.length === 0 && <p class="hint">No holder among the stores that were looked at.</p>}
      {search?.isEnded ? (
        <p class="hint">These are all stores of this ledger.</p>
      ) : (
        <button type="button" disabled={isRunning} onClick={() => void look()}>
          {search ? 'Look for more holders' : 'Look for holders'}
        </button>
      )}
    </>
  )
}
