import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import { newest } from '../state/ledger.ts'
import { goTo, route } from '../state/location.ts'

/** Version and time of a change. The time is null if the change is before the window, in which case its state is not kept. */
interface PlacedChange {
  readonly version: string
  readonly timestamp: string | null
}

/** The version of a change, with a link to its block if it is kept, and its time. */
export function ChangePlace({ change: { version, timestamp } }: { readonly change: PlacedChange }) {
  const text = `version ${groupDigits(version)}`
  return (
    <span>
      {timestamp === null ? text : <a href={`/version/${version}`}>{text}</a>}
      <ChangeTime timestamp={timestamp} />
    </span>
  )
}

export function ChangeTime({ timestamp }: Pick<PlacedChange, 'timestamp'>) {
  return <small>{timestamp === null ? 'before the window' : formatMicroseconds(timestamp)}</small>
}

/** A button that shows the state at a change, or the oldest state that is kept if the change is before the window. */
export function LookButton({ change }: { readonly change: PlacedChange | undefined }) {
  const isEarlier = change?.timestamp === null
  const at = isEarlier ? newest.value?.oldestVersion : change?.version
  return (
    <button
      type="button"
      disabled={at === undefined}
      onClick={() => at !== undefined && goTo({ view: route.value.view, at })}
    >
      {isEarlier ? 'Look at the oldest version' : 'Look at this version'}
    </button>
  )
}
