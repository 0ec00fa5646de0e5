// Parses headers such as `Accept` and `Accept-Encoding` (RFC 9110, 12.4). It looks at each character a few times at
// most: regular expressions that backtrack would let a client choose the cost of its header.

export interface Preference {
  /** Quality from 0 to 1; 0 refuses. */
  readonly quality: number
  /** Index in the header. */
  readonly order: number
}

/** Most members of a list, and most parameters of a member, that are looked at; more than any client sends. */
const MOST_PARTS = 64

/**
 * The first members of a header such as `br;q=0.5, gzip`, by lower-case name. If a name is repeated, the first one
 * counts.
 */
export function parseQualityList(header: string): ReadonlyMap<string, Preference> {
  const preferences = new Map<string, Preference>()
  for (const [order, item] of splitUnquoted(header, ',').entries()) {
    const [first, ...parameters] = splitUnquoted(item, ';')
    const name = first!.trim().toLowerCase()
    if (!preferences.has(name)) preferences.set(name, { quality: qualityOf(parameters), order })
  }
  return preferences
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The first parts of a text, split at separators outside of quoted strings. */
function splitUnquoted(text: string, separator: ',' | ';'): string[] {
  if (!text.includes('"')) return text.split(separator, MOST_PARTS)
  const parts: string[] = []
  const cut = separator.charCodeAt(0)
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length && parts.length < MOST_PARTS; at++) {
    const charCode = text.charCodeAt(at)
    if (charCode === QUOTE) isQuoted = !isQuoted
    else if (charCode === BACKSLASH && isQuoted) at++
    else if (charCode === cut && !isQuoted) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  if (parts.length < MOST_PARTS) parts.push(text.slice(start))
  return parts
}

/** Value of the parameter `q`; 1 if there is none or it is not well formed. */
function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const equalsAt = parameter.indexOf('=')
    if (equalsAt < 0 || parameter.slice(0, equalsAt).trim().toLowerCase() !== 'q') continue
    const value = parameter.slice(equalsAt + 1).trim()
    return value.length <= 5 && /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 1
  }
  return 1
}
