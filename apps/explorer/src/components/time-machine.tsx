import { useState } from 'preact/hooks'
import { formatMicroseconds } from '../state/amount.ts'
import { newest, newestFailure } from '../state/ledger.ts'
import { goTo, route } from '../state/location.ts'
import { textToTime } from '../state/target.ts'

/** Says which state is looked at, and moves to another: the latest, a version or a time. */
export function TimeMachine() {
  const { at, view } = route.value
  const [text, setText] = useState('')
  const head = newest.value
  const target = /^\d{1,20}$/.test(text.trim()) ? text.trim() : textToTime(text.trim())
  return (
    <form
      class="time-machine"
      aria-label="Time machine"
      onSubmit={(event) => {
        event.preventDefault()
        if (target === undefined) return
        setText('')
        goTo({ view, at: target })
      }}
    >
      <button type="button" aria-pressed={at === undefined} onClick={() => goTo({ view, at: undefined })}>
        Latest
      </button>
      <span class="moment" role="status">
        {at !== undefined
          ? `at ${at}`
          : head
            ? `version ${head.version}, ${formatMicroseconds(head.timestampUsec)}`
            : '…'}
        {newestFailure.value && ' (the node does not answer)'}
      </span>
      <input
        aria-label="Version or time to go to"
        placeholder="version or 2026-01-31T12:00Z"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={target === undefined}>
        Go
      </button>
    </form>
  )
}
