import type { ApiRequest } from '../api/client.ts'
import type { ValueChange } from '../api/history.ts'
import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import { usePages } from '../state/use-pages.ts'
import { Differences } from './differences.tsx'
import { MoreButton } from './more-button.tsx'
import { ValueTree } from './value-tree.tsx'

/** The changes of a resource or a table item, each with what it changed. */
export function ValueHistory({ request }: { readonly request: ApiRequest }) {
  const pages = usePages<readonly ValueChange[], ValueChange>(request, (page) => page)
  const isWhole = !pages.more && !pages.isLoading && !pages.failure && pages.isComplete
  return (
    <section aria-label="History">
      <h2>History</h2>
      {pages.items.map(({ version, timestamp, value }, at) => {
        const before = pages.items[at + 1]
        return (
          <details key={version} class="card" open={at < 3}>
            <summary>
              version {groupDigits(version)}{' '}
              <small>{timestamp === null ? 'before the window' : formatMicroseconds(timestamp)}</small>
            </summary>
            {value === null ? (
              <p>Deleted.</p>
            ) : before && before.value !== null ? (
              <Differences before={before.value} after={value} />
            ) : (
              <>
                {(before || isWhole) && <h3>Created</h3>}
                <ValueTree value={value} />
              </>
            )}
            <p>
              <button type="button" onClick={() => goTo({ view: route.value.view, at: version })}>
                Look at this version
              </button>
            </p>
          </details>
        )
      })}
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && <p class="empty">It was never there.</p>}
      {!pages.isComplete && <p class="hint">What was written before the window is not known.</p>}
      <MoreButton pages={pages} />
    </section>
  )
}
