import { textToTime } from './target.ts'

/** A state that a text names: a version, a time, or the state after a block. */
export type MomentText = { readonly at: string } | { readonly height: string }

const VERSION = /^\d{1,20}$/
const BLOCK = /^(?:block\s*|#)(\d{1,20})$/i

/** Reads a state from a text; undefined if the text does not name one. */
export function textToMoment(text: string): MomentText | undefined {
  const trimmed = text.trim()
  const block = BLOCK.exec(trimmed)
  if (block) return { height: block[1]! }
  const at = VERSION.test(trimmed) ? trimmed : textToTime(trimmed)
  return at === undefined ? undefined : { at }
}
