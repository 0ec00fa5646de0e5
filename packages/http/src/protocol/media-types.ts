/** Formats that an operator can switch off. */
export type OutputFormat = 'json' | 'bcs'
/** Formats of answers. */
export type AnswerFormat = OutputFormat | 'csv' | 'events'

export const MEDIA_TYPE: Readonly<Record<AnswerFormat, string>> = {
  json: 'application/json',
  bcs: 'application/x-bcs',
  csv: 'text/csv',
  events: 'text/event-stream',
}

/** Media type under which clients send the call of a view function in BCS. */
export const VIEW_FUNCTION_BCS = 'application/x.aptos.view_function+bcs'

/** The `Content-Type` of answers. */
export const CONTENT_TYPE: Readonly<Record<AnswerFormat, string>> = {
  json: `${MEDIA_TYPE.json}; charset=utf-8`,
  bcs: MEDIA_TYPE.bcs,
  csv: `${MEDIA_TYPE.csv}; charset=utf-8; header=present`,
  events: MEDIA_TYPE.events,
}

/** Whether a `Content-Type` names JSON: `application/json` or a type with the suffix `+json`. */
export function isJsonContentType(contentType: string): boolean {
  if (contentType === MEDIA_TYPE.json) return true
  const type = mediaTypeOf(contentType)
  if (type === MEDIA_TYPE.json) return true
  return type.startsWith('application/') && type.endsWith('+json') && !type.includes(' ') && !type.includes('\t')
}

/** A `Content-Type` without its parameters, lower-case. */
export function mediaTypeOf(contentType: string): string {
  const parametersAt = contentType.indexOf(';')
  return (parametersAt < 0 ? contentType : contentType.slice(0, parametersAt)).trim().toLowerCase()
}
