import { useState } from 'preact/hooks'
import { ForPrograms } from '../components/for-programs.tsx'
import { LastChange } from '../components/last-change.tsx'
import { Link } from '../components/link.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { ResourceAmount } from '../components/resource-amount.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { route } from '../state/location.ts'
import { usePages } from '../state/use-pages.ts'

export interface Resource {
  readonly type: string
  readonly data: unknown
}

const PAGE = 100
/** So many are open from the start. */
const FEW = 3

export function AccountResources({ address }: { readonly address: string }) {
  const request = { path: `/accounts/${encodeURIComponent(address)}/resources?limit=${PAGE}`, at: route.value.at }
  const pages = usePages<readonly Resource[], Resource>(request, (page) => page)
  const [filter, setFilter] = useState('')
  const shown = pages.items.filter(({ type }) => type.toLowerCase().includes(filter.toLowerCase()))
  return (
    <section aria-label="Resources">
      {pages.items.length > 5 && (
        <input
          type="text"
          class="filter"
          aria-label="Filter by type"
          placeholder="Filter by type"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {shown.map((resource) => (
        <ResourceCard key={resource.type} address={address} resource={resource} isOpenAtFirst={shown.length <= FEW} />
      ))}
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && (
        <p class="empty">No resources at this version.</p>
      )}
      <MoreButton pages={pages} />
      <ForPrograms requests={[request]} />
    </section>
  )
}

interface ResourceCardProps {
  readonly address: string
  readonly resource: Resource
  readonly isOpenAtFirst: boolean
}

function ResourceCard({ address, resource: { type, data }, isOpenAtFirst }: ResourceCardProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const history = `/accounts/${encodeURIComponent(address)}/resource/${encodeURIComponent(type)}/history`
  return (
    <details class="card" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <bdi class="type">{type}</bdi>
      </summary>
      {isOpen && (
        <>
          <ResourceAmount address={address} type={type} data={data} />
          <ValueTree value={data} holder={address} />
          <p>
            <LastChange path={history} /> · <Link view={{ name: 'resource', address, type }}>History</Link>
          </p>
        </>
      )}
    </details>
  )
}
