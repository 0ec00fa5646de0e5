import { useRef, useState } from 'preact/hooks'
import type { Resource } from '../api/answers.ts'
import { ForPrograms } from '../components/for-programs.tsx'
import { LastChange } from '../components/last-change.tsx'
import { Link } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { NameParts } from '../components/name-parts.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { EntryProof, type ProvenList, ProvenListNote, useProvenList } from '../proof/proven-list.tsx'
import { route } from '../state/location.ts'
import { useAmounts } from '../state/use-amounts.ts'
import { useStatePages } from '../state/use-pages.ts'

const PAGE = 100
/** Number of resources that are open from the start. */
const FEW = 3
const ROW_HEIGHT = 50

export function AccountResources({ address }: { readonly address: string }) {
  const request = { path: `/accounts/${encodeURIComponent(address)}/resources?limit=${PAGE}`, at: route.value.at }
  const pages = useStatePages<readonly Resource[], Resource>(request, (page) => page)
  const list = useProvenList(request.at, pages.first)
  const [filter, setFilter] = useState('')
  /** Resources that the visitor opened or closed. */
  const opened = useRef(new Map<string, boolean>())
  const shown = pages.items.filter(({ type }) => type.toLowerCase().includes(filter.toLowerCase()))
  return (
    <section aria-label="Resources">
      <ForPrograms requests={[request]} />
      <ProvenListNote list={list} what="Each resource is verified in this browser when it is opened." />
      {pages.items.length > 5 && (
        <input
          type="text"
          class="filter"
          aria-label="Filter by type"
          placeholder={pages.more ? 'Filter the loaded resources by type' : 'Filter by type'}
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <LongList
        label="Resources of the account"
        count={shown.length}
        rowHeight={ROW_HEIGHT}
        // A filter may hide everything on each page, and must not load all pages.
        onEnd={filter === '' ? pages.more : undefined}
        row={(at) => {
          const resource = shown[at]!
          return (
            <ResourceCard
              key={resource.type}
              address={address}
              resource={resource}
              list={list}
              isOpenAtFirst={opened.current.get(resource.type) ?? shown.length <= FEW}
              onToggle={(isOpen) => opened.current.set(resource.type, isOpen)}
            />
          )
        }}
      />
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && (
        <p class="empty">No resources at this version.</p>
      )}
      {pages.items.length > 0 && shown.length === 0 && <p class="empty">No type has this in its name.</p>}
      <MoreButton pages={pages} />
    </section>
  )
}

interface ResourceCardProps {
  readonly address: string
  readonly resource: Resource
  readonly list: ProvenList
  readonly isOpenAtFirst: boolean
  readonly onToggle: (isOpen: boolean) => void
}

function ResourceCard({ address, resource: { type, data }, list, isOpenAtFirst, onToggle }: ResourceCardProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const amounts = useAmounts(isOpen ? type : undefined, address, data)
  const path = `/accounts/${encodeURIComponent(address)}/resource/${encodeURIComponent(type)}`
  return (
    <details
      class="card"
      open={isOpen}
      onToggle={(event) => {
        const { open } = event.currentTarget
        if (open === isOpen) return
        setOpen(open)
        onToggle(open)
      }}
    >
      <summary>
        <bdi class="type">
          <NameParts name={type} />
        </bdi>
      </summary>
      {isOpen && (
        <>
          <ValueTree value={data} holder={address} amounts={amounts} />
          <EntryProof list={list} question={{ kind: 'resource', address, type }} request={{ path }} value={data} />
          <p>
            <Link view={{ name: 'resource', address, type }}>History</Link> · <LastChange path={`${path}/history`} />
          </p>
        </>
      )}
    </details>
  )
}
