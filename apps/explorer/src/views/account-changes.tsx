import { useState } from 'preact/hooks'
import type { AccountChange } from '../api/answers.ts'
import { Differences } from '../components/differences.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink, Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { TransactionFacts } from '../components/transaction-facts.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { groupDigits } from '../state/amount.ts'
import { newest } from '../state/ledger.ts'
import { route } from '../state/location.ts'
import { useAmounts } from '../state/use-amounts.ts'
import { usePages } from '../state/use-pages.ts'

const DEFAULT_DISTANCE = 100n
const ROW_HEIGHT = 110

export function AccountChanges({ address }: { readonly address: string }) {
  const head = newest.value
  const { at } = route.value
  if (!head) return <Loading />
  return <ChangesTo key={at ?? ''} address={address} at={at} latest={head.version} oldest={head.oldestVersion} />
}

interface ChangesToProps {
  readonly address: string
  readonly at: string | undefined
  readonly latest: string
  readonly oldest: string
}

/** Differences up to an end of the range that stays where it was when the view was opened, though the ledger grows. */
function ChangesTo({ address, at, latest, oldest }: ChangesToProps) {
  const [to] = useState(at ?? latest)
  const [from, setFrom] = useState(() => {
    const before = /^\d+$/.test(to) ? BigInt(to) - DEFAULT_DISTANCE : BigInt(oldest)
    return String(before > BigInt(oldest) ? before : BigInt(oldest))
  })
  const [text, setText] = useState(from)
  const request = {
    path: `/accounts/${encodeURIComponent(address)}/changes?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`,
  }
  const pages = usePages<readonly AccountChange[], AccountChange>(request, (page) => page)
  return (
    <section aria-label="Changes">
      <ForPrograms requests={[request]} />
      <NotProven>
        Changes are not proven: a proof is of the state at one version. What is stored at this address is, value by
        value, under <Link view={{ name: 'account', address, tab: 'resources' }}>Resources</Link>.
      </NotProven>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          setFrom(text.trim())
        }}
      >
        <label>
          since version or time{' '}
          <input type="text" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <span>up to {/^\d+$/.test(to) ? groupDigits(to) : to}</span>
        <button type="submit" disabled={text.trim() === ''}>
          Compare
        </button>
      </form>
      <LongList
        label="What changed"
        count={pages.items.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(index) => <ChangeCard address={address} change={pages.items[index]!} />}
      />
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && !pages.more && (
        <p class="empty">Nothing changed.</p>
      )}
      <MoreButton pages={pages} />
    </section>
  )
}

function ChangeCard({ address, change }: { readonly address: string; readonly change: AccountChange }) {
  const { type, module, before, after, before_error, after_error, asset, last_write } = change
  const holder = change.address ?? address
  const isReadable = !before_error && !after_error
  const amounts = useAmounts(type, holder, after ?? before)
  return (
    <article class="card">
      <h2 class="card-title">
        <Link
          view={
            type === undefined
              ? { name: 'module', address, module: module ?? '' }
              : { name: 'resource', address: holder, type }
          }
        >
          <bdi class="type">{type ?? `module ${module}`}</bdi>
        </Link>{' '}
        <small>
          {before === null ? 'created' : after === null ? 'deleted' : 'changed'}
          {asset !== undefined && (
            <>
              {' '}
              in its store of <AddressLink address={asset} />
            </>
          )}
        </small>
      </h2>
      {last_write?.transaction && (
        <p>
          <small>last written at version {groupDigits(last_write.version)} by </small>
          <TransactionFacts transaction={last_write.transaction} />
        </p>
      )}
      {before_error && <p>Before, it cannot be read: {before_error.message}</p>}
      {after_error && <p>After, it cannot be read: {after_error.message}</p>}
      {isReadable && before !== null && after !== null ? (
        <Differences before={before} after={after} amounts={amounts} />
      ) : (
        (after ?? before) !== undefined && <ValueTree value={after ?? before} holder={holder} amounts={amounts} />
      )}
    </article>
  )
}
