import { useState } from 'preact/hooks'
import type { Block, WholeTransaction } from '../api/answers.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { countText } from '../state/count-text.ts'
import { useAnswer } from '../state/use-answer.ts'
import { BlockChanges } from './block-changes.tsx'
import { TRANSACTION_ROW_HEIGHT, TransactionRow } from './transaction-row.tsx'

/** Transactions of a page. Each has its events and changes, so a page of more would be large. */
const PAGE = 20n

/** The transactions of a block, or its changes if the node keeps no transactions. */
export function BlockContents({ block }: { readonly block: Block }) {
  const [first, last] = [BigInt(block.first_version), BigInt(block.last_version)]
  const [start, setStart] = useState(first)
  const limit = last - start + 1n < PAGE ? last - start + 1n : PAGE
  const answer = useAnswer<readonly WholeTransaction[]>({
    path: `/transactions?start=${start}&limit=${limit}`,
    at: block.last_version,
  })
  if (answer === undefined) return <Loading />
  if ('failure' in answer) {
    if (answer.failure.isSwitchedOff) return <BlockChanges block={block} />
    return <FailureNotice failure={answer.failure} />
  }
  const shown = answer.value
  return (
    <section aria-label="Transactions">
      <h2>{countText(Number(last - first + 1n), 'transaction')}</h2>
      <LongList
        label="Transactions of the block"
        class="transactions"
        count={shown.length}
        rowHeight={TRANSACTION_ROW_HEIGHT}
        row={(at) => <TransactionRow transaction={shown[at]!} />}
      />
      {last - first >= PAGE && (
        <p class="inline">
          <button type="button" disabled={start === first} onClick={() => setStart(start - PAGE)}>
            Earlier
          </button>
          <button type="button" disabled={start + PAGE > last} onClick={() => setStart(start + PAGE)}>
            Later
          </button>
        </p>
      )}
    </section>
  )
}
