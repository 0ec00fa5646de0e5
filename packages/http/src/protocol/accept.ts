import { MEDIA_TYPE, type OutputFormat } from './media-types.js'
import { type Preference, parseQualityList } from './quality-list.js'

/**
 * The format that a client wants most (RFC 9110, 12.5.1): the one with the highest quality, or the first of equal ones.
 * The default if the client sends no header, or accepts neither.
 *
 * No library does this for us: negotiator takes twice to three times as long, does not match `application/x-bcs;
 * charset=utf-8` with `application/x-bcs`, and reads every member of a header, however many; @hapi/accept takes three
 * to six times as long.
 */
export function chooseFormat(accept: string | undefined, byDefault: OutputFormat): OutputFormat {
  if (accept === undefined || accept === '*/*') return byDefault
  const preferences = parseQualityList(accept)
  const json = preferenceOf('json', preferences)
  const bcs = preferenceOf('bcs', preferences)
  const jsonQuality = json?.quality ?? 0
  const bcsQuality = bcs?.quality ?? 0
  if (jsonQuality !== bcsQuality) return jsonQuality > bcsQuality ? 'json' : 'bcs'
  if (jsonQuality === 0 || json!.order === bcs!.order) return byDefault
  return json!.order < bcs!.order ? 'json' : 'bcs'
}

/** Whether the client accepts JSON and refuses BCS. */
export function acceptsOnlyJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return false
  const preferences = parseQualityList(accept)
  return (preferenceOf('json', preferences)?.quality ?? 0) > 0 && (preferenceOf('bcs', preferences)?.quality ?? 0) === 0
}

/** Whether the client wants CSV more than JSON, or equally and names it first. */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return false
  const preferences = parseQualityList(accept)
  const csv = preferences.get(MEDIA_TYPE.csv) ?? preferences.get('text/*')
  if (!csv || csv.quality === 0) return false
  const json = preferenceOf('json', preferences)
  if (!json || json.quality !== csv.quality) return csv.quality > (json?.quality ?? 0)
  return csv.order < json.order
}

/** Preference for a format: of the most specific media range that covers it. */
function preferenceOf(format: OutputFormat, preferences: ReadonlyMap<string, Preference>): Preference | undefined {
  return preferences.get(MEDIA_TYPE[format]) ?? preferences.get('application/*') ?? preferences.get('*/*')
}
