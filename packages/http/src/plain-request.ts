import type { IncomingMessage } from 'node:http'
import type { Operation } from './operation.js'

/** A request that needs nothing but its operation. */
export interface PlainRequest {
  readonly operation: Operation
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly bodyLength: number
}

interface Path {
  readonly operation: Operation
  readonly segments: readonly string[]
  /** By segment: the name of the parameter that it is, undefined where it is text. */
  readonly names: readonly (string | undefined)[]
}

type PathsBySegments = (Path[] | undefined)[]

/** Longer ones are for the framework, which knows limits for each part. */
const MAX_URL_LENGTH = 4_096

/**
 * Recognizes plain requests: a method and path that an operation has, no header about origin or encoding, a body of JSON
 * whose length is told and allowed.
 */
export function createPlainRequestReader(
  operations: readonly Operation[],
  bodyLimitBytes: number,
): (request: IncomingMessage) => PlainRequest | undefined {
  const gets: PathsBySegments = []
  const posts: PathsBySegments = []
  for (const operation of operations) {
    const segments = operation.path.split('/')
    const names = segments.map((segment) => /^\{(.*)\}$/.exec(segment)?.[1])
    const paths = operation.method === 'GET' ? gets : posts
    paths[segments.length] ??= []
    paths[segments.length]!.push({ operation, segments, names })
  }
  return ({ method, url, headers }) => {
    if (headers.origin !== undefined || headers['content-encoding'] !== undefined) return undefined
    if (headers['transfer-encoding'] !== undefined || url!.length > MAX_URL_LENGTH) return undefined
    const isGet = method === 'GET'
    if (!isGet && method !== 'POST') return undefined
    if (!isGet && headers['content-type']?.startsWith('application/json') === false) return undefined
    const bodyLength = isGet ? 0 : Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
    if (bodyLength > bodyLimitBytes) return undefined
    const queryAt = url!.indexOf('?')
    const segments = (queryAt < 0 ? url! : url!.slice(0, queryAt)).split('/')
    for (const path of (isGet ? gets : posts)[segments.length] ?? []) {
      const params = paramsOf(path, segments)
      if (params) return { operation: path.operation, params, bodyLength }
    }
    return undefined
  }
}

/** The parameters of a path, undefined where the segments are not of it. */
function paramsOf({ segments, names }: Path, asked: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (let at = 0; at < segments.length; at++) {
    const name = names[at]
    if (name === undefined) {
      if (segments[at] !== asked[at]) return undefined
      continue
    }
    const value = decodeSegment(asked[at]!)
    if (value === undefined) return undefined
    params[name] = value
  }
  return params
}

function decodeSegment(segment: string): string | undefined {
  if (segment.includes('#')) return undefined
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** Calls back with the body of a request once it is whole, and never where the client leaves before. */
export function collectBody(request: IncomingMessage, length: number, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)))
}
