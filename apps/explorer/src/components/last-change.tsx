import type { ResourceChange } from '../api/answers.ts'
import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import { route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'

/** The last write of a resource up to the present state. `path` is the path of its history. */
export function LastChange({ path }: { readonly path: string }) {
  const { at } = route.value
  const to = at === undefined ? '' : `&to=${encodeURIComponent(at)}`
  const found = useAnswer<readonly ResourceChange[]>({ path: `${path}?limit=1${to}` })
  const change = found && 'value' in found ? found.value[0] : undefined
  if (!change) return <small>{'\u00a0'}</small>
  return (
    <small>
      last changed at version {groupDigits(change.version)}
      {change.timestamp !== null && ` · ${formatMicroseconds(change.timestamp)}`}
    </small>
  )
}
