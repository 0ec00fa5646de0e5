// A server that lists, gives and takes the files of a folder as S3 and Google's store do, with faults on request.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, relative } from 'node:path'

export interface BucketRequest {
  readonly isListing: boolean
  readonly method: string
  /** Key of the object, or prefix of the listing. */
  readonly key: string
  /** Number of earlier requests for the same key. */
  readonly before: number
  readonly headers: IncomingMessage['headers']
}

interface BucketResponse {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Changes an answer, or answers by itself and returns true. */
export type Fault = (answer: BucketResponse, response: ServerResponse) => unknown

export interface BucketServerOptions {
  readonly bucket?: string
  /** Way of listing: as S3, as Google, or as older servers that know only the first version of the listing. */
  readonly flavour?: 's3' | 'gs' | 'first'
  readonly pageSize?: number
  /** Whether the files of the folder never change, so that each is hashed once. */
  readonly isConstant?: boolean
}

export interface BucketServer {
  readonly origin: string
  /** URL of the bucket. */
  readonly url: string
  readonly requests: BucketRequest[]
  /** Chooses the fault of an answer; undefined for none. */
  faultOf: (request: BucketRequest) => Fault | undefined
  /** Whether listing is allowed. */
  lists: boolean
  close(): Promise<void>
}

/** Serves a folder as a bucket, by default one named `bucket`, in pages of 1,000 names. */
export async function startBucketServer(folder: string, options: BucketServerOptions = {}): Promise<BucketServer> {
  const { bucket = 'bucket', flavour = 's3', pageSize = 1_000, isConstant = false } = options
  const counts = new Map<string, number>()
  let puts = 0
  const etags = new Map<string, string>()
  const etagOf = (path: string, bytes?: Buffer): string => {
    const etag = (isConstant && etags.get(path)) || hashOf(bytes ?? readFileSync(path))
    if (isConstant) etags.set(path, etag)
    return etag
  }
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url!, 'http://bucket')
    const [name = '', ...rest] = url.pathname.slice(1).split('/').map(decodeURIComponent)
    const key = rest.join('/')
    const isListing = key === ''
    const asked = isListing ? (url.searchParams.get('prefix') ?? '') : key
    const method = incoming.method!
    const count = `${method} ${isListing} ${asked}`
    const request = { isListing, method, key: asked, before: counts.get(count) ?? 0, headers: incoming.headers }
    counts.set(count, request.before + 1)
    started.requests.push(request)
    const isPut = method === 'PUT' && name === bucket && key !== ''
    const answer = isPut
      ? { status: 200, headers: {}, body: Buffer.alloc(0) }
      : answerTo(name, key, url.searchParams, incoming)
    if (started.faultOf(request)?.(answer, response) === true) return
    const send = ({ status, headers, body } = answer) => {
      response.writeHead(status, { 'content-length': String(body.length), ...headers })
      response.end(method === 'HEAD' ? undefined : body)
    }
    if (isPut && answer.status === 200) void take(incoming, key).then(send, () => response.destroy())
    else send()
  })

  /** Takes an object, which is visible only once it came as a whole, with the hash that the request says. */
  async function take(incoming: IncomingMessage, key: string): Promise<BucketResponse> {
    const pieces: Buffer[] = []
    if (incoming.headers['content-length'] === undefined) {
      incoming.resume()
      return xmlFault(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.')
    }
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
    const told = incoming.headers['x-amz-content-sha256']
    if (/^[0-9a-f]{64}$/.test(String(told)) && told !== createHash('sha256').update(body).digest('hex')) {
      return xmlFault(400, 'XAmzContentSHA256Mismatch', 'The provided header does not match what was computed.')
    }
    const path = join(folder, key)
    mkdirSync(dirname(path), { recursive: true })
    // Not in place: the old object may be a link.
    puts += 1
    const coming = `${folder}.coming-${puts}`
    writeFileSync(coming, body)
    renameSync(coming, path)
    rmSync(coming, { force: true })
    return { status: 200, headers: { etag: etagOf(path, body) }, body: Buffer.alloc(0) }
  }

  function answerTo(name: string, key: string, query: URLSearchParams, { headers }: IncomingMessage): BucketResponse {
    if (name !== bucket) return xmlFault(404, 'NoSuchBucket', 'The specified bucket does not exist')
    if (key !== '') return objectAnswer(join(folder, key), headers, etagOf)
    if (!started.lists) return xmlFault(403, 'AccessDenied', 'Access Denied')
    return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(listing(query)) }
  }

  function listing(query: URLSearchParams): string {
    const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? '']
    const token = query.get('continuation-token')
    const after = flavour === 'first' ? (query.get('marker') ?? '') : token === null ? '' : fromToken(token)
    const entries = new Map<string, string>()
    for (const key of keysOf(folder)) {
      if (!key.startsWith(prefix)) continue
      const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
      const common = end < 0 ? undefined : key.slice(0, end + 1)
      if (common !== undefined)
        entries.set(common, `<CommonPrefixes><Prefix>${escaped(common)}</Prefix></CommonPrefixes>`)
      else entries.set(key, contentsOf(key))
    }
    const later = [...entries.keys()].sort().filter((name) => name > after)
    const page = later.slice(0, pageSize)
    const last = page.at(-1) ?? ''
    const isTruncated = later.length > page.length
    const next = flavour === 'first' ? ['NextMarker', last] : ['NextContinuationToken', toToken(last)]
    const members = [
      `<Name>${bucket}</Name><Prefix>${escaped(prefix)}</Prefix>`,
      ...(isTruncated ? [`<${next[0]}>${escaped(next[1]!)}</${next[0]}>`] : []),
      `<IsTruncated>${isTruncated}</IsTruncated>`,
      ...page.map((name) => entries.get(name)!),
    ]
    const namespace =
      flavour === 'gs' ? "'http://doc.s3.amazonaws.com/2006-03-01'" : '"http://s3.amazonaws.com/doc/2006-03-01/"'
    const declaration =
      flavour === 'gs' ? "<?xml version='1.0' encoding='UTF-8'?>" : '<?xml version="1.0" encoding="UTF-8"?>\n'
    return `${declaration}<ListBucketResult xmlns=${namespace}>${members.join('')}</ListBucketResult>`
  }

  function contentsOf(key: string): string {
    const path = join(folder, key)
    const generation = flavour === 'gs' ? '<Generation>1700000000000000</Generation>' : ''
    return `<Contents><Key>${escaped(key)}</Key>${generation}<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>${escaped(etagOf(path))}</ETag><Size>${statSync(path).size}</Size></Contents>`
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const started: BucketServer = {
    origin,
    url: `${origin}/${bucket}`,
    requests: [],
    faultOf: () => undefined,
    lists: true,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return started
}

function objectAnswer(
  path: string,
  headers: IncomingMessage['headers'],
  etagOf: (path: string, bytes: Buffer) => string,
): BucketResponse {
  if (!existsSync(path) || statSync(path).isDirectory())
    return xmlFault(404, 'NoSuchKey', 'The specified key does not exist.')
  const body = readFileSync(path)
  const etag = etagOf(path, body)
  if (headers['if-match'] !== undefined && headers['if-match'] !== etag) {
    return xmlFault(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold')
  }
  const described = { etag, 'accept-ranges': 'bytes', 'last-modified': statSync(path).mtime.toUTCString() }
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
  if (from === undefined) return { status: 200, headers: described, body }
  const start = Number(from)
  if (start >= body.length) {
    const fault = xmlFault(416, 'InvalidRange', 'The requested range is not satisfiable')
    return { ...fault, headers: { ...fault.headers, 'content-range': `bytes */${body.length}` } }
  }
  const part = body.subarray(start, to ? Number(to) + 1 : undefined)
  const range = { 'content-range': `bytes ${start}-${start + part.length - 1}/${body.length}` }
  return { status: 206, headers: { ...described, ...range }, body: part }
}

function xmlFault(status: number, code: string, message: string): BucketResponse {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) }
}

function keysOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/'))
}

function hashOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}

/** Opaque token, with characters that a URL has to escape. */
function toToken(name: string): string {
  return `+/=${Buffer.from(name).toString('base64')}`
}

function fromToken(token: string): string {
  return Buffer.from(token.slice(3), 'base64').toString()
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;')
}

// Faults

/** A server that is too busy. */
export const busy =
  (status: number, retryAfter?: string): Fault =>
  (answer) => {
    answer.status = status
    answer.headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    answer.body = Buffer.from('<Error><Code>SlowDown</Code></Error>')
  }

/** Breaks the connection after `bytes` bytes of the body. */
export const cutAfter =
  (bytes: number): Fault =>
  (answer, response) => {
    response.writeHead(answer.status, { ...answer.headers, 'content-length': String(answer.body.length) })
    response.write(answer.body.subarray(0, bytes), () => response.destroy())
    return true
  }

/** Sends `bytes` bytes of the body, and nothing more. */
export const silentAfter =
  (bytes: number): Fault =>
  (answer, response) => {
    response.writeHead(answer.status, { ...answer.headers, 'content-length': String(answer.body.length) })
    response.write(answer.body.subarray(0, bytes))
    return true
  }

/** Ends the body after `bytes` bytes as if that were all of it. */
export const endAfter =
  (bytes: number): Fault =>
  (answer, response) => {
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body.subarray(0, bytes))
    return true
  }

/** Lengthens the body by `by` zero bytes; a negative `by` shortens it. */
export const withLengthOff =
  (by: number): Fault =>
  (answer) => {
    answer.body = by < 0 ? answer.body.subarray(0, by) : Buffer.concat([answer.body, Buffer.alloc(by)])
  }

/** Answers with the whole object whatever range is asked for. */
export const withBody =
  (body: Buffer, headers: Record<string, string> = {}): Fault =>
  (answer) => {
    const { 'content-range': _, ...rest } = answer.headers
    Object.assign(answer, { status: 200, headers: { ...rest, ...headers }, body })
  }

export const redirect =
  (status: number, headers: Record<string, string>): Fault =>
  (answer) => {
    Object.assign(answer, { status, headers, body: Buffer.alloc(0) })
  }

/** Answers with the page of a proxy that wants a login. */
export const htmlPage: Fault = (answer) => {
  answer.status = 200
  answer.headers = { 'content-type': 'text/html; charset=utf-8' }
  answer.body = Buffer.from('<!DOCTYPE html><html><body>Please sign in</body></html>')
}

/** Sends nothing, and holds the connection. */
export const silence: Fault = () => true
