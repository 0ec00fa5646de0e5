import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'
import { usePages } from '../state/use-pages.ts'
import type { Resource } from './account-resources.tsx'

interface Change {
  readonly version: string
  readonly timestamp: string | null
  readonly value: unknown
}

export function ResourceView({ address, type }: { readonly address: string; readonly type: string }) {
  const path = `/accounts/${address}/resource/${encodeURIComponent(type)}`
  const { at, view } = route.value
  const answer = useAnswer<Resource>({ path, at })
  const history = { path: `${path}/history?limit=20` }
  const pages = usePages<readonly Change[], Change>(history, (page) => page)
  return (
    <>
      <h1>
        <bdi class="type">{type}</bdi>
      </h1>
      <p class="subtitle">
        of <AddressLink address={address} />
      </p>
      {answer === undefined && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {answer && 'value' in answer && <ValueTree value={answer.value.data} />}
      <h2>History</h2>
      {pages.items.map(({ version, timestamp, value }) => (
        <details key={version} class="card">
          <summary>
            <button type="button" onClick={() => goTo({ view, at: version })}>
              version {groupDigits(version)}
            </button>{' '}
            <small>{timestamp === null ? 'before the window' : formatMicroseconds(timestamp)}</small>
          </summary>
          {value === null ? <p class="empty">deleted</p> : <ValueTree value={value} />}
        </details>
      ))}
      {!pages.isComplete && <p class="hint">What was written before the window is not known.</p>}
      <MoreButton pages={pages} />
      <ForPrograms requests={[{ path, at }, history]} />
    </>
  )
}
