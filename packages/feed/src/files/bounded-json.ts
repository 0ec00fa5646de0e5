/** Limits of a JSON text that somebody else wrote. */
export interface JsonLimits {
  /** Most levels of arrays and objects. */
  readonly depth: number
  /** Most values: each literal, number, string, array and object counts as one. */
  readonly values: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPENING_BRACKET = 0x5b
const OPENING_BRACE = 0x7b
const CLOSING_BRACKET = 0x5d
const CLOSING_BRACE = 0x7d

/**
 * Parses a JSON text within limits, which are checked before anything is allocated: a value takes up to a hundred times
 * the memory of its text.
 * @throws `SyntaxError`
 */
export function parseBoundedJson(text: string, { depth, values }: JsonLimits): unknown {
  let level = 0
  // Each comma separates two values, and each array or object holds at least one, or none.
  let found = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = stringEnd(text, at)
        break
      case OPENING_BRACKET:
      case OPENING_BRACE:
        found++
        if (++level > depth) throw new SyntaxError(`more than ${depth} levels of arrays and objects`)
        break
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        level--
        break
      case COMMA:
        found++
        break
    }
    if (found > values) throw new SyntaxError(`more than ${values} values`)
  }
  return JSON.parse(text)
}

/**
 * Parses a JSON text as `parseBoundedJson` does; undefined if it is not JSON within the limits.
 * @example
 * ```ts
 * import { tryBoundedJson } from '@ledger-state/feed'
 *
 * console.log(tryBoundedJson('{"files":[1,2]}', { depth: 2, values: 10 })) // { files: [ 1, 2 ] }
 * console.log(tryBoundedJson('[[[]]]', { depth: 2, values: 10 })) // undefined
 * ```
 */
export function tryBoundedJson(text: string, limits: JsonLimits): unknown {
  try {
    return parseBoundedJson(text, limits)
  } catch {
    return undefined
  }
}

/**
 * Index of the closing quote of the string with its opening quote at `start`; the length of the text if there is none.
 */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === BACKSLASH) before--
    if ((end - before) % 2 === 0) return end
  }
  return text.length
}
