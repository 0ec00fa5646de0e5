import { invalidRequest, routeNotFound } from '../errors.js'
import { queryParameter } from '../protocol/query.js'

/**
 * The URL at an upstream of an operation. It is built from the operation's path, the decoded parameters of the
 * request's path, each encoded as one segment, and the operation's query parameters. Nothing else of a request gets
 * into it, so that a request cannot choose another host or path.
 * @param base ends in `/v1`
 * @param path begins with `/v1`, and has `{name}` for parameters
 * @throws `invalid_request`, `route_not_found` if a segment is empty
 */
export function targetUrl(
  base: string,
  path: string,
  params: Readonly<Record<string, string>>,
  query: string,
  queryNames: readonly string[],
): string {
  const target = path
    .slice('/v1'.length)
    .replaceAll(/\{(.*?)\}/g, (_, name: string) => encodeSegment(name, params[name]))
  const search = new URLSearchParams()
  for (const name of queryNames) {
    const value = queryParameter(query, name)
    if (value !== undefined) search.append(name, value)
  }
  const text = search.toString()
  return text === '' ? `${base}${target}` : `${base}${target}?${text}`
}

/**
 * Encodes a segment. URLs cannot express the segments `.` and `..`, not even percent-encoded: they mean other paths.
 */
function encodeSegment(name: string, segment: string | undefined): string {
  if (!segment) throw routeNotFound()
  if (segment === '.' || segment === '..')
    throw invalidRequest.invalidPart(`path \`${name}\``, `${JSON.stringify(segment)} is not a name`)
  // A router decodes text, so there are no lone surrogates, which `encodeURIComponent` refuses.
  return encodeURIComponent(segment)
}
