import type { IncomingMessage } from 'node:http'
import { Refusal } from '../admission/refusal.js'
import { invalidRequest, type RequestError, versionUnsupported } from '../errors.js'

/**
 * Checks that there is no doubt where a request ends, and that its client understands the answer.
 * @throws `Refusal`
 */
export function expectFraming(request: IncomingMessage): void {
  const fault = framingFault(request)
  if (fault) throw new Refusal(fault)
}

function framingFault({ httpVersion, headers, rawHeaders }: IncomingMessage): RequestError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return versionUnsupported(httpVersion)
  if (headers.host === undefined && httpVersion === '1.1') return invalidRequest.hostMissing()
  if (hasTwoHosts(rawHeaders)) return invalidRequest.hostTwice()
  const transferEncoding = headers['transfer-encoding']
  if (transferEncoding === undefined || transferEncoding.toLowerCase() === 'chunked') return undefined
  return invalidRequest.transferEncodingUnsupported(transferEncoding)
}

/**
 * Whether a request has two hosts. Two servers on its way might each obey another one. `headers` has only the first.
 */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1
}
