import { hexToBytes } from '@ledger-state/core'
import { useState } from 'preact/hooks'
import type { ListedTableItem, TablePage } from '../api/answers.ts'
import { toStandardAddress } from '../api/program-lines.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { KeyForm } from '../components/key-form.tsx'
import { AddressLink, Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { TypeText } from '../components/type-text.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { EntryProof, EntryUnproven, type ProvenList, ProvenListNote, useProvenList } from '../proof/proven-list.tsx'
import { goTo, route } from '../state/location.ts'
import type { TableTypes } from '../state/route.ts'
import { tableItemsPath } from '../state/table-items-path.ts'
import { type Amounts, useAmounts } from '../state/use-amounts.ts'
import { useStatePages } from '../state/use-pages.ts'
import { itemRequest, TableItem } from './table-item.tsx'

interface TableViewProps {
  readonly handle: string
  readonly types: TableTypes
  /** The key of one item, as JSON. */
  readonly itemKey: string | undefined
}

const PAGE = 50
const ROW_HEIGHT = 110

export function TableView({ handle, types, itemKey }: TableViewProps) {
  const request = { path: tableItemsPath(handle, types, PAGE), at: route.value.at }
  // Each page has the types, even a page without items.
  const pages = useStatePages<TablePage, { readonly page: TablePage; readonly item: ListedTableItem | undefined }>(
    request,
    (page) => [{ page, item: undefined }, ...page.items.map((item) => ({ page, item }))],
  )
  const list = useProvenList(request.at, pages.first)
  const found = pages.items[0]?.page
  const items = pages.items.flatMap(({ item }) => item ?? [])
  const [keyType, valueType] = [found?.key_type ?? types.keyType, found?.value_type ?? types.valueType]
  const amounts = useAmounts(valueType, undefined, undefined)
  const open = (key: string): void => goTo({ view: { name: 'table', handle, types, key }, at: route.value.at })
  return (
    <>
      <h1>
        Table <code>{handle}</code> <CopyButton text={toStandardAddress(handle)} what="the handle" />
      </h1>
      {!found && !pages.failure && <Loading />}
      {(found || pages.failure) && (
        <p class="subtitle">
          <TypeText text={keyType ?? 'keys of an unknown type'} /> →{' '}
          <TypeText text={valueType ?? 'values of an unknown type'} />
          {types.holder !== undefined && (
            <>
              , held by <AddressLink address={types.holder} />
            </>
          )}
        </p>
      )}
      {(found || pages.failure) && (
        <>
          {itemKey === undefined && <ForPrograms requests={[request]} />}
          {(!keyType || !valueType) && <TypesForm handle={handle} types={types} />}
          {keyType && valueType && <KeyForm key={keyType} type={keyType} onKey={open} />}
          {itemKey !== undefined && keyType && valueType ? (
            <TableItem handle={handle} types={types} keyType={keyType} valueType={valueType} itemKey={itemKey} />
          ) : (
            <>
              <ProvenListNote
                list={list}
                what="This browser verifies the first items that become visible; verify the others on request."
              />
              <LongList
                label="Items of the table"
                count={items.length}
                rowHeight={ROW_HEIGHT}
                onEnd={pages.more}
                row={(index) => (
                  <ItemCard
                    handle={handle}
                    types={{ ...types, keyType, valueType }}
                    item={items[index]!}
                    amounts={amounts}
                    list={list}
                  />
                )}
              />
              {!pages.isLoading && !pages.failure && items.length === 0 && (
                <p class="empty">No items at this version. A handle that no table has looks the same.</p>
              )}
              <MoreButton pages={pages} />
            </>
          )}
        </>
      )}
    </>
  )
}

interface ItemCardProps {
  readonly handle: string
  readonly types: TableTypes
  readonly item: ListedTableItem
  readonly amounts: Amounts | undefined
  readonly list: ProvenList
}

function ItemCard({ handle, types, item, amounts, list }: ItemCardProps) {
  return (
    <article class="card item-of-table">
      <div>
        <ValueTree value={item.key ?? item.raw_key} depth={2} />
      </div>
      <div>
        <ValueTree value={item.value ?? item.raw_value} depth={2} holder={types.holder} amounts={amounts} />
        <ItemProof handle={handle} types={types} item={item} list={list} />
      </div>
      {item.key !== undefined && (
        <Link view={{ name: 'table', handle, types, key: JSON.stringify(item.key) }}>History</Link>
      )}
    </article>
  )
}

function ItemProof({ handle, types, item, list }: Omit<ItemCardProps, 'amounts'>) {
  const { keyType, valueType } = types
  if (item.key !== undefined && item.value !== undefined && keyType && valueType) {
    const question = { kind: 'table_item', handle, keyType, valueType, key: item.key } as const
    const request = itemRequest(handle, keyType, valueType, JSON.stringify(item.key))
    return <EntryProof list={list} question={question} request={request} value={item.value} />
  }
  // A key that is shown next to a proof of another one would look proven.
  if (item.raw_key === undefined || item.raw_value === undefined || 'key' in item || 'value' in item) {
    return <EntryUnproven list={list} why="the type of its key or value is unknown." />
  }
  const question = { kind: 'raw_table_item', handle, key: hexToBytes(item.raw_key) } as const
  const body = JSON.stringify({ key: item.raw_key })
  const request = { path: `/tables/${encodeURIComponent(handle)}/raw_item`, body }
  return <EntryProof list={list} question={question} request={request} value={item.raw_value} />
}

/** A form for the types of a table: the account that holds it, or the types themselves. */
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
        type="text"
        aria-label="Account that holds the table"
        placeholder="account that holds the table, for its types"
        value={holder}
        onInput={(event) => setHolder(event.currentTarget.value)}
      />
      <button type="submit">Read with its types</button>
    </form>
  )
}
