import type { StateHead } from '../api/state-head.ts'
import { formatAge, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { timeTicks, timeTickText, versionTicks } from '../state/axis.ts'
import { fitLabels, type Label } from '../state/fit-labels.ts'
import { oldestTimestampUsec } from '../state/ledger.ts'
import { route } from '../state/location.ts'
import { positionOf } from '../state/position.ts'
import { useVersionsAt } from '../state/use-versions-at.ts'
import { useWidth } from '../state/use-width.ts'

const MOST_TICKS = 6

/** The window of the node: as a part of all versions, and enlarged, on an axis of versions and one of time. */
export function WindowBar({ head }: { readonly head: StateHead }) {
  const [first, last] = [BigInt(head.oldestVersion), BigInt(head.version)]
  const { at } = route.value
  const isTime = at !== undefined && !/^\d+$/.test(at)
  const here = useVersionsAt(isTime ? [at] : []).get(at ?? '') ?? at
  return (
    <figure class="window">
      {first > 0n && <WholeLedger first={first} last={last} />}
      <Axis
        name="versions"
        ticks={versionTicks(first, last, MOST_TICKS).map((version) => ({
          place: positionOf(String(version), head),
          text: groupDigits(String(version)),
        }))}
      />
      <div class="window-bar" role="img" aria-label={`versions ${head.oldestVersion} to ${head.version}`}>
        {here !== undefined && <span class="window-here" style={{ left: percent(positionOf(here, head)) }} />}
      </div>
      <TimeAxis head={head} />
      <Ends head={head} />
    </figure>
  )
}

/** The part of all versions that is kept, with lines to the bar that enlarges it. */
function WholeLedger({ first, last }: { readonly first: bigint; readonly last: bigint }) {
  // In a very long ledger the window would vanish; it is at least a line.
  const start = Math.min(99.5, Number((first * 10_000n) / last) / 100)
  return (
    <svg
      class="whole-ledger"
      viewBox="0 0 100 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={`of all versions from 0 to ${last}`}
    >
      <rect class="whole-all" x="0" y="0" width="100" height="5" />
      <rect class="whole-kept" x={start} y="0" width={100 - start} height="5" />
      <polygon class="whole-closer" points={`${start},5 100,5 100,20 0,20`} />
    </svg>
  )
}

/** An axis. Its ends have the whole text, for visitors who do not see it. */
function Axis({ name, ticks }: { readonly name: 'versions' | 'times'; readonly ticks: readonly Label[] }) {
  const { place: element, width } = useWidth()
  return (
    <div class={`axis axis-${name}`} aria-hidden="true" ref={element}>
      {fitLabels(ticks, width).map(({ place, text, alignment }) => (
        <span key={text} class={`tick tick-${alignment}`} style={{ left: percent(place) }}>
          <span>{text}</span>
        </span>
      ))}
    </div>
  )
}

/** Axis of time. Blocks are not made evenly, so a tick is at the version that the ledger had at its time. */
function TimeAxis({ head }: { readonly head: StateHead }) {
  const oldest = oldestTimestampUsec.value ?? head.timestampUsec
  const { times, step } = timeTicks(BigInt(oldest), BigInt(head.timestampUsec), MOST_TICKS)
  const versions = useVersionsAt(times.map(toRfc3339))
  const ticks = times.flatMap((time): readonly Label[] => {
    const version = versions.get(toRfc3339(time))
    return version === undefined ? [] : [{ place: positionOf(version, head), text: timeTickText(time, step) }]
  })
  return <Axis name="times" ticks={ticks} />
}

function toRfc3339(microseconds: bigint): string {
  return new Date(Number(microseconds / 1_000n)).toISOString()
}

function Ends({ head }: { readonly head: StateHead }) {
  const oldest = oldestTimestampUsec.value
  const span = oldest === undefined ? undefined : (BigInt(head.timestampUsec) - BigInt(oldest)) / 1_000_000n
  return (
    <figcaption class="ends">
      <span>
        from version <strong>{groupDigits(head.oldestVersion)}</strong>
        <small>{oldest === undefined ? '\u00a0' : formatMicroseconds(oldest)}</small>
      </span>
      {span !== undefined && span > 0n && <span>{formatAge(Number(span))}</span>}
      <span>
        to version <strong>{groupDigits(head.version)}</strong>
        {head.timestampUsec !== '0' && <small>{formatMicroseconds(head.timestampUsec)}</small>}
      </span>
    </figcaption>
  )
}

function percent(part: number): string {
  return `${100 * part}%`
}
