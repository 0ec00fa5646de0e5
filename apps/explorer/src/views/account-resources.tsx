import { useState } from 'preact/hooks'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { route } from '../state/location.ts'
import { usePages } from '../state/use-pages.ts'

export interface Resource {
  readonly type: string
  readonly data: unknown
}

const PAGE = 100

export function AccountResources({ address }: { readonly address: string }) {
  const request = { path: `/accounts/${address}/resources?limit=${PAGE}`, at: route.value.at }
  const pages = usePages<readonly Resource[], Resource>(request, (page) => page)
  const [filter, setFilter] = useState('')
  const shown = pages.items.filter(({ type }) => type.toLowerCase().includes(filter.toLowerCase()))
  return (
    <section aria-label="Resources">
      {pages.items.length > 5 && (
        <input
          class="filter"
          aria-label="Filter by type"
          placeholder="Filter by type"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {shown.map(({ type, data }) => (
        <details key={type} class="card" open={shown.length <= 3}>
          <summary>
            <bdi class="type">{type}</bdi>
          </summary>
          <ValueTree value={data} />
          <p>
            <Link view={{ name: 'resource', address, type }}>its history</Link>
          </p>
        </details>
      ))}
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && (
        <p class="empty">No resources at this version.</p>
      )}
      <MoreButton pages={pages} />
      <ForPrograms requests={[request]} />
    </section>
  )
}
