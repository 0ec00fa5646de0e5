import { invalidArgument, notAUrl } from '../errors.js'
import { tryBoundedJson } from '../files/bounded-json.js'

/**
 * Checks the URL of a node, and returns it without a slash at its end. It must not have a user name and password:
 * `fetch` refuses them, and logs would show them. It must not have a query, since paths are appended.
 * @throws `invalid_argument`, without the password in its message
 * @example
 * ```ts
 * import { toRemoteUrl } from '@ledger-state/feed/remote-url'
 *
 * console.log(toRemoteUrl('https://node.example/v1/')) // https://node.example/v1
 * ```
 */
export function toRemoteUrl(location: string): string {
  const parsed = URL.parse(location)
  if (!parsed) throw notAUrl(location)
  if (parsed.username !== '' || parsed.password !== '') throw invalidArgument.urlWithCredentials(parsed.host)
  if (/[?#]/.test(location)) throw invalidArgument.urlWithQuery(parsed.host)
  return location.replace(/\/+$/, '')
}

/** Limits of the JSON of an index or a fault. */
const SMALL_JSON = { depth: 32, values: 10_000 }

export function tryJson(text: string): unknown {
  return tryBoundedJson(text, SMALL_JSON)
}
