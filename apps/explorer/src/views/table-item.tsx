import { parseExactly } from '../api/exact-json.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { ValueHistory } from '../components/value-history.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { ProofNote } from '../proof/proof-note.tsx'
import { route } from '../state/location.ts'
import type { TableTypes } from '../state/route.ts'
import { useAmounts } from '../state/use-amounts.ts'
import { useAnswer } from '../state/use-answer.ts'

interface TableItemProps {
  readonly handle: string
  readonly types: TableTypes
  readonly keyType: string
  readonly valueType: string
  /** The key as JSON. */
  readonly itemKey: string
}

/** One item of a table, with its history. */
export function TableItem({ handle, types, keyType, valueType, itemKey }: TableItemProps) {
  const { path, body } = itemRequest(handle, keyType, valueType, itemKey)
  const request = { path, at: route.value.at, body }
  const history = { path: `${path}/history?limit=20`, body }
  const answer = useAnswer<unknown>(request)
  const amounts = useAmounts(valueType, undefined, undefined)
  return (
    <section aria-label="Item">
      <p>
        <Link view={{ name: 'table', handle, types }}>All items</Link>
      </p>
      <h2>
        Item <bdi class="type">{itemKey.length > 100 ? `${itemKey.slice(0, 100)}…` : itemKey}</bdi>
      </h2>
      <ForPrograms requests={[request, history]} />
      {answer === undefined && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {answer && 'value' in answer && <ValueTree value={answer.value} holder={types.holder} amounts={amounts} />}
      {answer && (
        <ProofNote
          question={{ kind: 'table_item', handle, keyType, valueType, key: parseKey(itemKey) }}
          request={request}
          answer={answer}
        />
      )}
      {answer && <ValueHistory request={history} type={valueType} holder={undefined} />}
    </section>
  )
}

/**
 * Request for one item.
 * @param itemKey key as JSON
 */
export function itemRequest(handle: string, keyType: string, valueType: string, itemKey: string) {
  const body = `{"key_type":${JSON.stringify(keyType)},"value_type":${JSON.stringify(valueType)},"key":${itemKey}}`
  return { path: `/tables/${encodeURIComponent(handle)}/item`, body }
}

/** Parses a key. The node refuses a key that is not JSON, so nothing is shown for it. */
function parseKey(json: string): unknown {
  try {
    return parseExactly(json)
  } catch {
    return undefined
  }
}
