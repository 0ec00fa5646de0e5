import type { Buffer } from 'node:buffer'

/** A fault of Node's parser, with the bytes in which it occurred. */
export interface ParserFault extends NodeJS.ErrnoException {
  /** Bytes of `rawPacket` before the fault. */
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** The faults of a method that Node.js does not know, or knows only of other protocols. */
const METHOD_FAULTS: ReadonlySet<string | undefined> = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT'])
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VERSION = /^HTTP\/1\.[01]$/

/**
 * Method and target of a request that the parser refused for its method. Undefined for any other fault, and if the
 * request line is not complete or not well formed.
 */
export function unknownMethodOf(fault: ParserFault): { readonly method: string; readonly target: string } | undefined {
  const { code, bytesParsed = 0, rawPacket } = fault
  if (!METHOD_FAULTS.has(code) || !rawPacket) return undefined
  const endAt = rawPacket.indexOf('\n', bytesParsed)
  if (endAt < 0) return undefined
  const startAt = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1
  const line = rawPacket.toString('latin1', startAt, endAt)
  const [method, target, version, ...more] = line.slice(0, line.endsWith('\r') ? -1 : undefined).split(' ')
  if (!target || !version || more.length > 0) return undefined
  return TOKEN.test(method!) && VERSION.test(version) ? { method: method!, target } : undefined
}
