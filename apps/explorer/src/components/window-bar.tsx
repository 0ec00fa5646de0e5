import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import { newest, oldestTimestampUsec } from '../state/ledger.ts'

/** The window of the node on the axis of all versions. */
export function WindowBar() {
  const head = newest.value
  if (!head) return null
  const latest = Number(head.version)
  const start = latest === 0 ? 0 : (Number(head.oldestVersion) / latest) * 100
  return (
    <figure class="window">
      <svg
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`versions ${head.oldestVersion} to ${head.version}`}
      >
        <rect class="window-all" x="0" y="0" width="100" height="6" />
        <rect class="window-kept" x={start} y="0" width={Math.max(0.5, 100 - start)} height="6" />
      </svg>
      <figcaption>
        <span>
          version {groupDigits(head.oldestVersion)}
          {oldestTimestampUsec.value !== undefined && <small>{formatMicroseconds(oldestTimestampUsec.value)}</small>}
        </span>
        <span class="window-end">
          version {groupDigits(head.version)}
          <small>{formatMicroseconds(head.timestampUsec)}</small>
        </span>
      </figcaption>
    </figure>
  )
}
