import type { Pages } from '../state/use-pages.ts'
import { FailureNotice } from './failure-notice.tsx'
import { Loading } from './loading.tsx'

/** What follows a list: its next page, that it is loading, or why not. */
export function MoreButton({ pages }: { readonly pages: Pages<unknown> }) {
  const { more, isLoading, failure } = pages
  if (failure) return <FailureNotice failure={failure} />
  if (isLoading) return <Loading />
  return more ? (
    <button type="button" class="more" onClick={more}>
      More
    </button>
  ) : null
}
