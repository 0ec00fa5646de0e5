import { useState } from 'preact/hooks'
import type { AccountChange } from '../api/answers.ts'
import { ChangeCard } from '../components/change-card.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { groupDigits } from '../state/amount.ts'
import { newest } from '../state/ledger.ts'
import { route } from '../state/location.ts'
import { useRangePages } from '../state/use-pages.ts'

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
  const pages = useRangePages<readonly AccountChange[], AccountChange>(request, (page) => page)
  return (
    <section aria-label="Changes">
      <ForPrograms requests={[request]} />
      <NotProven>
        Changes are not proven: a proof is of the state at one version. The values stored at this address are proven one
        by one under <Link view={{ name: 'account', address, tab: 'resources' }}>Resources</Link>.
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
        label="Changed resources and items"
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
