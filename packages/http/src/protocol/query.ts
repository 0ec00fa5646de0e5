import { invalidRequest } from '../errors.js'

/**
 * The first value of a query parameter, form-decoded; undefined if the query does not have it.
 * @throws `invalid_request` if the value is not well percent-encoded; a name that is not matches no parameter
 */
export function queryParameter(query: string, name: string): string | undefined {
  const value = encodedParameter(query, name)
  return value === undefined ? undefined : decodePercent(value)
}

/** Same as `queryParameter`; undefined also if the value is not well percent-encoded. */
export function readableParameter(query: string, name: string): string | undefined {
  const value = encodedParameter(query, name)
  return value === undefined ? undefined : percentDecoded(value)
}

/** The first value of a parameter with `+` as a blank, and still percent-encoded. */
function encodedParameter(query: string, name: string): string | undefined {
  for (let start = 0; start < query.length; ) {
    const nextAt = query.indexOf('&', start)
    const end = nextAt < 0 ? query.length : nextAt
    const value = valueUnder(query.slice(start, end), name)
    if (value !== undefined) return value.replaceAll('+', ' ')
    start = end + 1
  }
  return undefined
}

/**
 * The parameters of a query whose names begin with a prefix: the rest of each name, and the value, form-decoded.
 * @throws `invalid_request` if a value is not well percent-encoded
 */
export function* queryParametersUnder(query: string, prefix: string): Generator<readonly [string, string], void> {
  for (let start = 0; start < query.length; ) {
    const nextAt = query.indexOf('&', start)
    const end = nextAt < 0 ? query.length : nextAt
    const pair = query.slice(start, end)
    start = end + 1
    const equalsAt = pair.indexOf('=')
    const name = percentDecoded(equalsAt < 0 ? pair : pair.slice(0, equalsAt))
    if (!name?.startsWith(prefix)) continue
    const value = equalsAt < 0 ? '' : pair.slice(equalsAt + 1)
    yield [name.slice(prefix.length), decodePercent(value.replaceAll('+', ' '))]
  }
}

/** The text after the `=` of a pair, if it has the name. */
function valueUnder(pair: string, name: string): string | undefined {
  const equalsAt = pair.indexOf('=')
  const rawName = equalsAt < 0 ? pair : pair.slice(0, equalsAt)
  if (rawName !== name && !(rawName.includes('%') && percentDecoded(rawName) === name)) return undefined
  return equalsAt < 0 ? '' : pair.slice(equalsAt + 1)
}

/**
 * Decodes a percent-encoded text.
 * @throws `invalid_request`
 */
export function decodePercent(text: string): string {
  const decoded = percentDecoded(text)
  if (decoded === undefined) throw invalidRequest.invalidPercentEncoding(text)
  return decoded
}

/** Decodes a percent-encoded text; undefined if it is not well encoded UTF-8. */
export function percentDecoded(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
