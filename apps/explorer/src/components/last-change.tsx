import type { ValueChange } from '../api/history.ts'
import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import { newest } from '../state/ledger.ts'
import { route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'

/** When a resource was last written, until the state that is looked at. `path` is that of its history. */
export function LastChange({ path }: { readonly path: string }) {
  const to = route.value.at ?? newest.value?.version
  const found = useAnswer<readonly ValueChange[]>(
    to === undefined ? undefined : { path: `${path}?limit=1&to=${encodeURIComponent(to)}` },
  )
  const change = found && 'value' in found ? found.value[0] : undefined
  if (!change) return null
  return (
    <small>
      last changed at version {groupDigits(change.version)}
      {change.timestamp !== null && ` · ${formatMicroseconds(change.timestamp)}`}
    </small>
  )
}
