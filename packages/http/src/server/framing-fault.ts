import type { IncomingMessage } from 'node:http'
import {
  hostMissing,
  hostTwice,
  type RequestError,
  transferEncodingUnsupported,
  versionUnsupported,
} from '../errors.js'

/** Why it is not certain where a request ends, or that its client understands the answer; undefined where all is well. */
export function framingFault({ httpVersion, headers, rawHeaders }: IncomingMessage): RequestError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return versionUnsupported(httpVersion)
  if (headers.host === undefined && httpVersion === '1.1') return hostMissing()
  if (hasTwoHosts(rawHeaders)) return hostTwice()
  const transferEncoding = headers['transfer-encoding']
  if (transferEncoding === undefined || transferEncoding.toLowerCase() === 'chunked') return undefined
  return transferEncodingUnsupported(transferEncoding)
}

/** Two servers on the way of one request may follow another one each. The first counts in `headers`. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1
}
