import { formatAge, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { newest, oldestTimestampUsec } from '../state/ledger.ts'
import { route } from '../state/location.ts'

/** The window of the node on the axis of all versions. */
export function WindowBar() {
  const head = newest.value
  if (!head) return null
  const latest = Number(head.version)
  const start = latest === 0 ? 0 : (Number(head.oldestVersion) / latest) * 100
  const oldest = oldestTimestampUsec.value
  const span = oldest === undefined ? undefined : Number((BigInt(head.timestampUsec) - BigInt(oldest)) / 1_000_000n)
  const { at } = route.value
  const here = at !== undefined && /^\d+$/.test(at) && latest > 0 ? (Number(at) / latest) * 100 : undefined
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
        {here !== undefined && <rect class="window-here" x={Math.min(99.7, here)} y="0" width="0.3" height="6" />}
      </svg>
      <figcaption class="ends">
        <span>
          kept from version {groupDigits(head.oldestVersion)}
          {oldestTimestampUsec.value !== undefined && (
            <>
              <br />
              {formatMicroseconds(oldestTimestampUsec.value)}
            </>
          )}
        </span>
        {span !== undefined && <span>{formatAge(span)}</span>}
        <span>
          to version {groupDigits(head.version)}
          <br />
          {formatMicroseconds(head.timestampUsec)}
        </span>
      </figcaption>
    </figure>
  )
}
