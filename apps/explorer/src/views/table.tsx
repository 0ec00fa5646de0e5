import { useState } from 'preact/hooks'
import { ForPrograms } from '../components/for-programs.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { goTo, route } from '../state/location.ts'
import type { TableTypes } from '../state/route.ts'
import { usePages } from '../state/use-pages.ts'

interface ItemsPage {
  readonly key_type: string | null
  readonly value_type: string | null
  readonly found_in: unknown
  readonly items: readonly Item[]
}

interface Item {
  readonly key?: unknown
  readonly value?: unknown
  readonly raw_key?: string
  readonly raw_value?: string
}

interface ShownItem {
  readonly item: Item
  readonly page: ItemsPage
}

export function TableView({ handle, types }: { readonly handle: string; readonly types: TableTypes }) {
  const parameters = new URLSearchParams({ limit: '50' })
  if (types.keyType) parameters.set('key_type', types.keyType)
  if (types.valueType) parameters.set('value_type', types.valueType)
  if (types.holder) parameters.set('holder', types.holder)
  const request = { path: `/tables/${handle}/items?${parameters}`, at: route.value.at }
  const pages = usePages<ItemsPage, ShownItem>(request, (page) => page.items.map((item) => ({ item, page })))
  const found = pages.items[0]?.page
  return (
    <>
      <h1>
        Table <code class="whole">{handle}</code>
      </h1>
      {found && (
        <p class="subtitle">
          <bdi class="type">{found.key_type ?? 'keys of an unknown type'}</bdi> →{' '}
          <bdi class="type">{found.value_type ?? 'values of an unknown type'}</bdi>
        </p>
      )}
      <TypesForm handle={handle} types={types} />
      {pages.items.map(({ item }, at) => (
        <article key={at} class="card item">
          <div>
            <ValueTree value={item.key ?? item.raw_key} depth={2} />
          </div>
          <div>
            <ValueTree value={item.value ?? item.raw_value} depth={2} />
          </div>
        </article>
      ))}
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && <p class="empty">No items at this version.</p>}
      <MoreButton pages={pages} />
      <ForPrograms requests={[request]} />
    </>
  )
}

/** The types of a table stand in the account that holds it, or are named by whoever looks. */
function TypesForm({ handle, types }: { readonly handle: string; readonly types: TableTypes }) {
  const [holder, setHolder] = useState(types.holder ?? '')
  const { at } = route.value
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault()
        goTo({ view: { name: 'table', handle, types: { ...types, holder: holder.trim() || undefined } }, at })
      }}
    >
      <input
        aria-label="Account that holds the table"
        placeholder="account that holds the table, for its types"
        value={holder}
        onInput={(event) => setHolder(event.currentTarget.value)}
      />
      <button type="submit">Read with its types</button>
    </form>
  )
}
