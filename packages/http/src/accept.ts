export type OutputFormat = 'json' | 'bcs'

const MEDIA_TYPE: Readonly<Record<OutputFormat, string>> = { json: 'application/json', bcs: 'application/x-bcs' }

export const CONTENT_TYPE: Readonly<Record<OutputFormat, string>> = {
  json: 'application/json; charset=utf-8',
  bcs: 'application/x-bcs',
}

interface MediaRange {
  readonly type: string
  readonly quality: number
  /** Place in the header. */
  readonly order: number
}

/**
 * The format that a client wants most (RFC 9110, 12.5.1): the highest quality, of equal ones the one named first.
 * Without a header, and where it accepts neither, the default.
 */
export function chooseFormat(accept: string | undefined, byDefault: OutputFormat): OutputFormat {
  if (accept === undefined || accept === '*/*') return byDefault
  const ranges = parseAccept(accept)
  const json = rangeOf('json', ranges)
  const bcs = rangeOf('bcs', ranges)
  const jsonQuality = json?.quality ?? 0
  const bcsQuality = bcs?.quality ?? 0
  if (jsonQuality !== bcsQuality) return jsonQuality > bcsQuality ? 'json' : 'bcs'
  if (jsonQuality === 0 || json!.order === bcs!.order) return byDefault
  return json!.order < bcs!.order ? 'json' : 'bcs'
}

/** Whether the client takes JSON and nothing else of what there is. */
export function acceptsOnlyJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return false
  const ranges = parseAccept(accept)
  return (rangeOf('json', ranges)?.quality ?? 0) > 0 && (rangeOf('bcs', ranges)?.quality ?? 0) === 0
}

/** The most specific range that covers the format. */
function rangeOf(format: OutputFormat, ranges: readonly MediaRange[]): MediaRange | undefined {
  for (const type of [MEDIA_TYPE[format], 'application/*', '*/*']) {
    const range = ranges.find((candidate) => candidate.type === type)
    if (range) return range
  }
  return undefined
}

/** Qualities of the members of a header such as `Accept-Encoding: br;q=0.5, gzip`, by lower-case name. */
export function parseQualityList(header: string): Map<string, number> {
  const qualities = new Map<string, number>()
  for (const item of header.split(',')) {
    const [name] = item.split(';', 1)
    const quality = QUALITY.exec(item)
    qualities.set(name!.trim().toLowerCase(), quality ? Number(quality[1]) : 1)
  }
  return qualities
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const RANGE = new RegExp(`^(${TOKEN}/${TOKEN})((?:\\s*;\\s*[^;]*)*)$`)
const QUALITY = /;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i
/** Commas part media ranges, unless they stand in a quoted parameter. */
const COMMA = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/

function parseAccept(accept: string): MediaRange[] {
  const ranges: MediaRange[] = []
  const items = accept.includes('"') ? accept.split(COMMA) : accept.split(',')
  for (const [order, item] of items.entries()) {
    const range = RANGE.exec(item.trim())
    if (!range) continue
    const quality = QUALITY.exec(range[2]!)
    ranges.push({ type: range[1]!.toLowerCase(), quality: quality ? Number(quality[1]) : 1, order })
  }
  return ranges
}
