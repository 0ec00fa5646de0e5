import type { WholeTransaction } from '../api/answers.ts'
import { ForPrograms } from '../components/for-programs.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { route } from '../state/location.ts'
import { useRangePages } from '../state/use-pages.ts'
import { TRANSACTION_ROW_HEIGHT, TransactionRow } from './transaction-row.tsx'

/** Transactions of a page. Each has its events and changes, so a page of more would be large. */
const PAGE = 20

/** The transactions that changed an account, the newest first, up to the state of the page. */
export function AccountTransactions({ address }: { readonly address: string }) {
  const { at } = route.value
  const to = at === undefined ? '' : `&to=${encodeURIComponent(at)}`
  const path = `/accounts/${encodeURIComponent(address)}/affecting_transactions?order=desc&limit=${PAGE}${to}`
  const pages = useRangePages<readonly WholeTransaction[], WholeTransaction>({ path }, (page) => page)
  const transactions = pages.items
  const isEmpty = !pages.isLoading && !pages.failure && transactions.length === 0 && !pages.more
  return (
    <section aria-label="Transactions">
      <ForPrograms requests={[{ path }]} />
      <NotProven>The list is not proven: a proof is of one transaction, or of the state at one version.</NotProven>
      <h2>Transactions that changed it</h2>
      <LongList
        label="Transactions, the newest first"
        class="transactions"
        count={transactions.length}
        rowHeight={TRANSACTION_ROW_HEIGHT}
        onEnd={pages.more}
        row={(index) => <TransactionRow transaction={transactions[index]!} />}
      />
      {isEmpty && <p class="empty">No transaction changed it in the window of this node.</p>}
      <MoreButton pages={pages} />
    </section>
  )
}
