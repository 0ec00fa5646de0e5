import { notAUrl, urlWithCredentials } from '../errors.js'

/**
 * The URL without a slash at its end. A request cannot carry a user name and password of its URL, and they would be logged
 * with it.
 * @throws `invalid_argument` for a URL with either, or that is none
 */
export function toRemoteUrl(location: string): string {
  const parsed = URL.parse(location)
  if (!parsed) throw notAUrl(location)
  if (parsed.username !== '' || parsed.password !== '') throw urlWithCredentials(parsed.host)
  return location.replace(/\/+$/, '')
}

export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
