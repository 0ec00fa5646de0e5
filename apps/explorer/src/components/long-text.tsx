import { useState } from 'preact/hooks'

/** Length above which a text is cut, with a button for the rest. */
const SHORT_TEXT = 200
/** Most characters that a click adds. A text of the chain may have millions, which take seconds to lay out. */
const STEP = 50_000

/** A text of the chain, cut with a button for more. */
export function LongText({ text }: { readonly text: string }) {
  const [length, setLength] = useState(SHORT_TEXT)
  if (text.length <= length) return <bdi class="value-text">{text}</bdi>
  const next = Math.min(text.length, length < STEP ? STEP : length + STEP)
  return (
    <span>
      <bdi class="value-text">{text.slice(0, length)}…</bdi>{' '}
      <button type="button" class="fold" onClick={() => setLength(next)}>
        {next === text.length ? 'all' : `${next} of`} {text.length} characters
      </button>
    </span>
  )
}

/** A text that is cut for good, with its length. */
export function cutText(text: string): string {
  return text.length <= SHORT_TEXT ? text : `${text.slice(0, SHORT_TEXT)}… (${text.length} characters)`
}
