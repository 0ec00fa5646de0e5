import type { View } from './route.ts'

/** Something to open, with its title. */
export interface Target {
  readonly label: string
  /** View to open; undefined for a state, which the time machine moves to. */
  readonly view?: View
  readonly at?: string
}

/** Something that a text may name, whether or not the ledger has it. */
export type Candidate =
  | {
      readonly kind: 'address'
      readonly address: string
      /** Whether the text has no `0x`, and may be meant as something else. */
      readonly isBare?: true
    }
  | { readonly kind: 'version'; readonly version: string }
  | { readonly kind: 'height'; readonly height: string }
  | { readonly kind: 'time'; readonly time: string }
  | { readonly kind: 'module'; readonly address: string; readonly module: string }
  | { readonly kind: 'type'; readonly address: string; readonly module: string; readonly type: string }
  /** Part of the name of an asset or of a type. */
  | { readonly kind: 'word'; readonly word: string }

const ADDRESS = /^0x[0-9a-f]{1,64}$/i
/** An address without `0x`. If it is short, it may be a number or a word, too. */
const BARE_ADDRESS = /^[0-9a-f]{1,64}$/i
const LONG_ADDRESS = 64
/** Digits, or digits in groups of three, as people write large numbers. */
const NUMBER = /^(?:\d{1,20}|\d{1,3}(?:[ ,_.'’\u00a0\u202f]\d{3}){1,6})$/
const BLOCK = /^(?:block|height)\s*#?\s*(.+)$|^#\s*(.+)$/i
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|UTC|GMT|[+-]\d{2}:\d{2})?)?$/i
const MODULE = /^(0x[0-9a-f]{1,64})::([a-z_]\w*)$/i
const TYPE = /^(0x[0-9a-f]{1,64})::([a-z_]\w*)::[a-z_]\w*(?:<.*>)?$/i
/** Names of assets and tokens may have letters and digits of any language. */
const WORD = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_:. #'-]{1,80}$/u
const LETTER = /\p{L}/u

/** Everything that a text may name, the likeliest first. A number may be a version and a height. */
export function textToCandidates(text: string): readonly Candidate[] {
  const trimmed = text.trim()
  if (ADDRESS.test(trimmed)) return [{ kind: 'address', address: trimmed }]
  if (BARE_ADDRESS.test(trimmed) && trimmed.length === LONG_ADDRESS) {
    return [{ kind: 'address', address: `0x${trimmed}` }]
  }
  const bare: readonly Candidate[] = BARE_ADDRESS.test(trimmed)
    ? [{ kind: 'address', address: `0x${trimmed}`, isBare: true }]
    : []
  const number = textToNumber(trimmed)
  if (number !== undefined) {
    return [{ kind: 'version', version: number }, { kind: 'height', height: number }, ...bare]
  }
  const block = BLOCK.exec(trimmed)
  const height = block && textToNumber((block[1] ?? block[2]!).trim())
  if (height !== undefined && height !== null) return [{ kind: 'height', height }]
  if (TIME.test(trimmed)) {
    const time = textToTime(trimmed)
    return time === undefined ? [] : [{ kind: 'time', time }]
  }
  const [, address, module] = MODULE.exec(trimmed) ?? TYPE.exec(trimmed) ?? []
  if (address && module) {
    const type = TYPE.test(trimmed) ? trimmed : undefined
    return [type ? { kind: 'type', address, module, type } : { kind: 'module', address, module }]
  }
  return [...bare, ...(isWord(trimmed) ? [{ kind: 'word', word: trimmed } as const] : [])]
}

function isWord(text: string): boolean {
  return WORD.test(text) && LETTER.test(text)
}

/** Decimal digits without leading zeros; undefined if the text is not a number. */
function textToNumber(text: string): string | undefined {
  return NUMBER.test(text) ? String(BigInt(text.replaceAll(/\D/g, ''))) : undefined
}

/** A time as RFC 3339 in UTC; a date without a time is its first moment. Undefined if there is no such time. */
export function textToTime(text: string): string | undefined {
  const plain = text
    .trim()
    .replace(/\s*(?:UTC|GMT)$/i, 'Z')
    .replace(/^(\d{4}-\d{2}-\d{2})\s+/, '$1T')
    .replace(/\s+/g, '')
  const withTime = plain.includes('T') ? plain : `${plain}T00:00:00Z`
  const withZone = /(Z|[+-]\d{2}:\d{2})$/i.test(withTime) ? withTime : `${withTime}Z`
  const milliseconds = Date.parse(withZone)
  return Number.isNaN(milliseconds) || !isDate(plain.slice(0, 10)) ? undefined : new Date(milliseconds).toISOString()
}

/** `Date.parse` takes February 30 for March 2. */
function isDate(date: string): boolean {
  const milliseconds = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(date)
}
