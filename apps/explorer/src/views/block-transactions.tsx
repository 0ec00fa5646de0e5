import { useState } from 'preact/hooks'
import type { Block, WholeTransaction } from '../api/answers.ts'
import { isLeftOut } from '../api/failure.ts'
import { Fact } from '../components/fact.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { AddressLink } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { groupDigits } from '../state/amount.ts'
import { countText } from '../state/count-text.ts'
import { memberOf } from '../state/member-of.ts'
import { useAnswer } from '../state/use-answer.ts'
import { BlockChanges } from './block-changes.tsx'
import { TRANSACTION_ROW_HEIGHT, TransactionRow } from './transaction-row.tsx'

/** Transactions of a page. Each has its events and changes, so a page of more would be large. */
const PAGE = 20n

interface BlockContentsProps {
  readonly block: Block
  /** Version of the transaction that is shown whole; undefined for none. */
  readonly chosen: string | undefined
}

/** The transactions of a block, or its changes if the node does not keep them. */
export function BlockContents({ block, chosen }: BlockContentsProps) {
  const [first, last] = [BigInt(block.first_version), BigInt(block.last_version)]
  const [start, setStart] = useState(first + ((BigInt(chosen ?? first) - first) / PAGE) * PAGE)
  const limit = last - start + 1n < PAGE ? last - start + 1n : PAGE
  const answer = useAnswer<readonly WholeTransaction[]>({
    path: `/transactions?start=${start}&limit=${limit}`,
    at: block.last_version,
  })
  const origin = useAnswer<WholeTransaction>({ path: `/transactions/by_version/${first}`, at: block.last_version })
  if (answer === undefined || origin === undefined) return <Loading />
  if ('failure' in answer) {
    const { failure } = answer
    if (failure.isSwitchedOff || isLeftOut(failure)) return <BlockChanges block={block} />
    return <FailureNotice failure={failure} />
  }
  const shown = answer.value
  return (
    <section aria-label="Transactions">
      {'value' in origin && <Origin transaction={origin.value} />}
      <h2>{countText(Number(last - first + 1n), 'transaction')}</h2>
      <LongList
        label="Transactions of the block"
        class="transactions"
        count={shown.length}
        rowHeight={TRANSACTION_ROW_HEIGHT}
        row={(at) => <TransactionRow transaction={shown[at]!} isChosen={shown[at]!.version === chosen} />}
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

/** The facts in the first transaction of a block: the validator that proposed it, its epoch and its round. */
function Origin({ transaction }: { readonly transaction: WholeTransaction }) {
  const [proposer, epoch, round] = ['proposer', 'epoch', 'round'].map((name) => memberOf(transaction, [name]))
  if (proposer === undefined) return null
  return (
    <dl class="facts">
      <Fact name="Proposer">
        <AddressLink address={proposer} />
      </Fact>
      {epoch !== undefined && <Fact name="Epoch">{groupDigits(epoch)}</Fact>}
      {round !== undefined && <Fact name="Round">{groupDigits(round)}</Fact>}
    </dl>
  )
}
