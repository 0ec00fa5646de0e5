import type { IncomingMessage } from 'node:http'
import { hostMissing, type RequestError, transferEncodingUnsupported, versionUnsupported } from '../errors.js'

/** Why it is not certain where a request ends, or that its client understands the answer; undefined where all is well. */
export function framingFault({ httpVersion, headers }: IncomingMessage): RequestError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return versionUnsupported(httpVersion)
  if (headers.host === undefined && httpVersion === '1.1') return hostMissing()
  const transferEncoding = headers['transfer-encoding']
  if (transferEncoding === undefined || transferEncoding.toLowerCase() === 'chunked') return undefined
  return transferEncodingUnsupported(transferEncoding)
}
