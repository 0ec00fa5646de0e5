import { useRef } from 'preact/hooks'
import type { ValueChange } from '../api/answers.ts'
import type { ApiRequest } from '../api/client.ts'
import { NotProven } from '../proof/not-proven.tsx'
import { groupDigits } from '../state/amount.ts'
import { isPruned, newest } from '../state/ledger.ts'
import { type Amounts, useAmounts } from '../state/use-amounts.ts'
import { hasUnknownBefore, useRangePages } from '../state/use-pages.ts'
import { ChangeTime, LookButton } from './change-place.tsx'
import { Differences } from './differences.tsx'
import { LongList } from './long-list.tsx'
import { MoreButton } from './more-button.tsx'
import { TransactionFacts } from './transaction-facts.tsx'
import { ValueTree } from './value-tree.tsx'

const OPEN_AT_FIRST = 3
const ROW_HEIGHT = 50

interface ValueHistoryProps {
  readonly request: ApiRequest
  /** Type of the values. */
  readonly type: string
  /** Account of a resource. */
  readonly holder: string | undefined
}

/** The changes of a resource or a table item, each with its differences from the previous one. */
export function ValueHistory({ request, type, holder }: ValueHistoryProps) {
  const pages = useRangePages<readonly ValueChange[], ValueChange>(request, (page) => page)
  const amounts = useAmounts(
    type,
    holder,
    pages.items.find(({ value }) => value !== null && value !== undefined)?.value,
  )
  const isWhole = !pages.more && !pages.isLoading && !pages.failure && pages.isComplete
  // What the oldest version has may be older than the node knows.
  const isCreated = ({ version }: ValueChange): boolean =>
    !isPruned.value || BigInt(version) > BigInt(newest.value!.oldestVersion)
  /** Changes that the visitor opened or closed. */
  const opened = useRef(new Map<string, boolean>())
  return (
    <section aria-label="History">
      <h2>History</h2>
      <NotProven>A history is not proven: a proof is of the state at one version.</NotProven>
      <LongList
        label="Changes, the newest first"
        count={pages.items.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(at) => {
          const change = pages.items[at]!
          return (
            <ChangeCard
              key={change.version}
              change={change}
              before={pages.items[at + 1]}
              amounts={amounts}
              isFirst={isWhole && at === pages.items.length - 1 && isCreated(change)}
              isOpen={opened.current.get(change.version) ?? at < OPEN_AT_FIRST}
              onToggle={(isOpen) => opened.current.set(change.version, isOpen)}
            />
          )
        }}
      />
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && <p class="empty">It was never there.</p>}
      {hasUnknownBefore(pages) && <p class="hint">Writes before the window are unknown.</p>}
      <MoreButton pages={pages} />
    </section>
  )
}

interface ChangeCardProps {
  readonly change: ValueChange
  readonly before: ValueChange | undefined
  readonly amounts: Amounts | undefined
  /** Whether the value did not exist before. */
  readonly isFirst: boolean
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
}

function ChangeCard({ change, before, amounts, isFirst, isOpen, onToggle }: ChangeCardProps) {
  const { version, timestamp, value, error, transaction } = change
  return (
    <details class="card" open={isOpen} onToggle={(event) => onToggle(event.currentTarget.open)}>
      <summary>
        version {groupDigits(version)} <ChangeTime timestamp={timestamp} />
      </summary>
      {transaction && (
        <p>
          <TransactionFacts transaction={transaction} />
        </p>
      )}
      {error ? (
        <p>It cannot be read at this version: {error.message}</p>
      ) : value === null ? (
        <p>Deleted.</p>
      ) : before && before.value !== null && !before.error ? (
        <Differences before={before.value} after={value} amounts={amounts} />
      ) : (
        <>
          {((before && !before.error) || isFirst) && <h3>Created</h3>}
          <ValueTree value={value} amounts={amounts} />
        </>
      )}
      <p>
        <LookButton change={change} />
      </p>
    </details>
  )
}
