import { useState } from 'preact/hooks'
import { Differences } from '../components/differences.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Loading } from '../components/loading.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { newest } from '../state/ledger.ts'
import { route } from '../state/location.ts'
import { usePages } from '../state/use-pages.ts'

interface Change {
  readonly type?: string
  readonly module?: string
  readonly before: unknown
  readonly after: unknown
}

const DEFAULT_DISTANCE = 100n

export function AccountChanges({ address }: { readonly address: string }) {
  const head = newest.value
  const { at } = route.value
  const to = at ?? head?.version
  if (to === undefined || !head) return <Loading />
  return <ChangesTo key={to} address={address} to={to} oldest={head.oldestVersion} />
}

function ChangesTo({
  address,
  to,
  oldest,
}: {
  readonly address: string
  readonly to: string
  readonly oldest: string
}) {
  const before = /^\d+$/.test(to) ? BigInt(to) - DEFAULT_DISTANCE : BigInt(oldest)
  const [from, setFrom] = useState(String(before > BigInt(oldest) ? before : BigInt(oldest)))
  const [text, setText] = useState(from)
  const request = {
    path: `/accounts/${encodeURIComponent(address)}/changes?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`,
  }
  const pages = usePages<readonly Change[], Change>(request, (page) => page)
  return (
    <section aria-label="Changes">
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          setFrom(text.trim())
        }}
      >
        <label>
          since version or time{' '}
          <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <span>up to {to}</span>
        <button type="submit">Compare</button>
      </form>
      {pages.items.map(({ type, module, before, after }) => (
        <details key={type ?? module} class="card" open={pages.items.length <= 10}>
          <summary>
            <bdi class="type">{type ?? `module ${module}`}</bdi>{' '}
            <small>{before === null ? 'created' : after === null ? 'deleted' : 'changed'}</small>
          </summary>
          {before !== null && after !== null ? (
            <Differences before={before} after={after} />
          ) : (
            <ValueTree value={after ?? before} holder={address} />
          )}
        </details>
      ))}
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && !pages.more && (
        <p class="empty">Nothing changed.</p>
      )}
      <MoreButton pages={pages} />
      <ForPrograms requests={[request]} />
    </section>
  )
}
