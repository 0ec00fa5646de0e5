import type { Pages } from '../state/use-pages.ts'
import { FailureNotice } from './failure-notice.tsx'
import { Loading } from './loading.tsx'

/** End of a list: a button for its next page, a note that it is loading, or the reason of a failure. */
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
