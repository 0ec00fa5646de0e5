import { useEffect, useRef, useState } from 'preact/hooks'
import type { Block } from '../api/answers.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import type { StateHead } from '../api/state-head.ts'
import { formatAge, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { ageSeconds, newest, newestFailure } from '../state/ledger.ts'
import { goTo, route } from '../state/location.ts'
import { textToMoment } from '../state/moment.ts'
import { positionOf } from '../state/position.ts'
import { untilAnswered } from '../state/until-answered.ts'
import { useAnswer } from '../state/use-answer.ts'
import { FailureNotice } from './failure-notice.tsx'

const go = (at: string | undefined): void => goTo({ view: route.value.view, at })

/** Shows which state the page shows, and moves to another: the latest, a version, a time or a block. */
export function TimeMachine() {
  const { at } = route.value
  const [dragged, setDragged] = useState<string | undefined>(undefined)
  useEffect(() => setDragged(undefined), [at])
  return (
    <section class={at === undefined ? 'time-machine' : 'time-machine is-past'} aria-label="Time machine">
      <div class="bar">
        <button type="button" aria-pressed={at === undefined} onClick={() => go(undefined)}>
          Latest
        </button>
        <span class="moment" aria-live={at === undefined ? 'off' : 'polite'}>
          {dragged !== undefined ? (
            <>
              version <strong>{groupDigits(dragged)}</strong>
            </>
          ) : at === undefined ? (
            <LiveMoment />
          ) : (
            <PastMoment at={at} />
          )}
        </span>
        <Slider onDrag={setDragged} />
        <MomentField />
      </div>
    </section>
  )
}

function LiveMoment() {
  const head = newest.value
  const isLost = newestFailure.value !== undefined
  if (!head) return <span class={isLost ? 'live is-lost' : 'live'}>{isLost ? 'the node does not answer' : '…'}</span>
  return (
    <span class={isLost ? 'live is-lost' : 'live'}>
      version <strong>{groupDigits(head.version)}</strong>
      {head.timestampUsec !== '0' && <span class="moment-time"> · {formatMicroseconds(head.timestampUsec)}</span>} ·{' '}
      {isLost ? 'the node does not answer; asking again' : ageText(head)}
    </span>
  )
}

/** Text of the state's age. Genesis has no time. */
function ageText({ timestampUsec }: StateHead): string {
  return timestampUsec === '0' ? 'genesis' : `${formatAge(ageSeconds.value)} ago`
}

function PastMoment({ at }: { readonly at: string }) {
  const isVersion = /^\d+$/.test(at)
  const block = useAnswer<Block>(isVersion ? { path: `/blocks/by_version/${at}` } : undefined)
  if (!isVersion) return <strong>{at.replace('T', ' ').replace(/(\.0+)?Z$/, ' UTC')}</strong>
  return (
    <>
      version <strong>{groupDigits(at)}</strong>
      {block && 'value' in block && ` · ${formatMicroseconds(block.value.block_timestamp)}`}
    </>
  )
}

/** The window as an axis with a thumb that moves with the pointer or the arrow keys. */
function Slider({ onDrag }: { readonly onDrag: (version: string) => void }) {
  const head = newest.value
  const { at } = route.value
  // Before the ledger is known, the axis has its place.
  if (!head) return <input type="range" disabled aria-label="Version, from the oldest to the latest" />
  const [first, last] = [BigInt(head.oldestVersion), BigInt(head.version)]
  const span = last - first
  // Positions are fractions of the window, because versions may be larger than a number holds.
  const steps = span < 10_000n ? Number(span) : 10_000
  const toVersion = (step: number): string => String(steps === 0 ? last : first + (span * BigInt(step)) / BigInt(steps))
  const value = at === undefined ? steps : Math.round(positionOf(at, head) * steps)
  return (
    <input
      type="range"
      min={0}
      max={steps}
      value={value}
      aria-label="Version, from the oldest to the latest"
      aria-valuetext={at === undefined ? `latest, version ${head.version}` : `at ${at}`}
      onInput={(event) => onDrag(toVersion(Number(event.currentTarget.value)))}
      onChange={(event) => {
        const step = Number(event.currentTarget.value)
        go(step === steps ? undefined : toVersion(step))
      }}
    />
  )
}

function MomentField() {
  const [text, setText] = useState('')
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const moment = textToMoment(text)
  const control = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => control.current?.abort(), [])
  const submit = async (): Promise<void> => {
    if (moment === undefined) return
    control.current?.abort()
    control.current = new AbortController()
    const { signal } = control.current
    setFailure(undefined)
    if ('at' in moment) go(moment.at)
    else {
      const request = { path: `/blocks/by_height/${moment.height}` }
      const block = await untilAnswered(() => ask<Block>(request, signal), signal, setFailure)
      setFailure('failure' in block ? block.failure : undefined)
      if ('failure' in block) return
      go(block.value.last_version)
    }
    setText('')
  }
  return (
    <>
      <form
        class="inline moment-form"
        onSubmit={(event) => {
          event.preventDefault()
          submit().catch(() => {})
        }}
      >
        <input
          type="text"
          aria-label="Version, time or block to go to"
          placeholder="version, time or block 12"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" disabled={moment === undefined}>
          Go
        </button>
      </form>
      {failure && <FailureNotice failure={failure} />}
    </>
  )
}
