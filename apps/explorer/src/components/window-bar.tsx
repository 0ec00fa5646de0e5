import type { StateHead } from '../api/state-head.ts'
import { formatAge, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { timeTicks, timeTickText, versionTicks } from '../state/axis.ts'
import { oldestTimestampUsec } from '../state/ledger.ts'
import { route } from '../state/location.ts'
import { positionOf } from '../state/position.ts'
import { useVersionsAt } from '../state/use-versions-at.ts'

const MOST_TICKS = 6
/** Distance from an end of the axis, as a part of it, below which a label would stick out. */
const NEAR_END = 0.05
/** Distance between labels below which they would touch. */
const LEAST_DISTANCE = 0.1

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

interface Tick {
  /** Place in the window, from 0 to 1. */
  readonly place: number
  readonly text: string
}

/** An axis. Its ends have the whole text, for visitors who do not see it. */
function Axis({ name, ticks }: { readonly name: 'versions' | 'times'; readonly ticks: readonly Tick[] }) {
  const align = (place: number) => (place < NEAR_END ? ' tick-first' : place > 1 - NEAR_END ? ' tick-last' : '')
  return (
    <div class={`axis axis-${name}`} aria-hidden="true">
      {ticks.map(({ place, text }) => (
        <span key={text} class={`tick${align(place)}`} style={{ left: percent(place) }}>
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
  if (times.length === 0) return null
  const ticks: Tick[] = []
  for (const time of times) {
    const version = versions.get(toRfc3339(time))
    const place = version === undefined ? 0 : positionOf(version, head)
    if (version !== undefined && place >= (ticks.at(-1)?.place ?? -1) + LEAST_DISTANCE)
      ticks.push({ place, text: timeTickText(time, step) })
  }
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
        {oldest !== undefined && <small>{formatMicroseconds(oldest)}</small>}
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
