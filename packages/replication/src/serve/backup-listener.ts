import { createReadStream } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const MOST_NAMES = 1_000
const MOST_TRANSFERS = 100
/** Names that are served: no backup has others. Files that are still written (`.part`) are left out. */
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,255}(?<!\.part)$/
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Which folder of a backup is served, and at which path. */
export interface BackupListenerOptions {
  readonly folder: string
  /** Path at which the backup is served, such as `/backup`. */
  readonly path: string
  /** Most objects that are sent at the same time; 100 by default. */
  readonly maxTransfers?: number | undefined
}

/**
 * Serves the folder of a backup as S3 serves a bucket, read-only: the listing of a folder, and objects or ranges of
 * them. Any program that reads buckets can read it: `ledger-state ingest http://node-a:8090/backup`.
 */
export function createBackupListener(options: BackupListenerOptions): RequestListener {
  const server = new BackupServer(options)
  return (request, response) => void server.answer(request, response)
}

class BackupServer {
  readonly #folder: string
  readonly #path: string
  readonly #maxTransfers: number
  #transfers = 0

  constructor({ folder, path, maxTransfers = MOST_TRANSFERS }: BackupListenerOptions) {
    this.#folder = folder
    this.#path = path
    this.#maxTransfers = maxTransfers
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return sendFault(response, 405, 'MethodNotAllowed')
    if (this.#transfers >= this.#maxTransfers) return sendFault(response, 503, 'SlowDown')
    this.#transfers++
    try {
      await this.#route(request, response)
    } catch {
      // Either the client has left, or the folder cannot be read.
      if (response.headersSent) response.destroy()
      else sendFault(response, 500, 'InternalError')
    } finally {
      this.#transfers--
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url!, 'http://backup')
    const path = url && toPath(url.pathname)
    const below = `${this.#path}/`
    const name = path === this.#path ? '' : path?.startsWith(below) ? path.slice(below.length) : undefined
    if (!url || name === undefined) return sendFault(response, 404, 'NoSuchKey')
    if (name === '') return await this.#list(url.searchParams, response)
    await this.#send(name, request, response)
  }

  async #list(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const prefix = query.get('prefix') ?? ''
    if ((query.get('delimiter') ?? '/') !== '/') return sendFault(response, 501, 'NotImplemented')
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    const after = Buffer.from(query.get('continuation-token') ?? '', 'base64url').toString()
    const names = (await this.#namesIn(folder)).filter((name) => name.startsWith(prefix) && name > after)
    const page = names.slice(0, MOST_NAMES)
    const entries = await Promise.all(page.map((name) => this.#entryOf(name)))
    const isTruncated = names.length > page.length
    const next = isTruncated ? Buffer.from(page.at(-1)!).toString('base64url') : ''
    const body = [
      '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
      `<Prefix>${escapeXml(prefix)}</Prefix><Delimiter>/</Delimiter><KeyCount>${page.length}</KeyCount>`,
      `<MaxKeys>${MOST_NAMES}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>`,
      ...(isTruncated ? [`<NextContinuationToken>${next}</NextContinuationToken>`] : []),
      ...entries,
      '</ListBucketResult>',
    ].join('')
    response.writeHead(200, { 'content-type': 'application/xml', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }

  /** Names of the objects and folders directly in a folder, sorted. Those of folders end with a slash. */
  async #namesIn(folder: string): Promise<string[]> {
    if (folder !== '' && !isName(folder.slice(0, -1))) return []
    const found = await readdir(join(this.#folder, folder), { withFileTypes: true }).catch(ifMissing([]))
    return found
      .filter((entry) => NAME.test(entry.name) && (entry.isFile() || entry.isDirectory()))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  }

  async #entryOf(name: string): Promise<string> {
    if (name.endsWith('/')) return `<CommonPrefixes><Prefix>${escapeXml(name)}</Prefix></CommonPrefixes>`
    const stats = await lstat(join(this.#folder, name)).catch(ifMissing(undefined))
    if (!stats) return ''
    const { size, mtime } = stats
    return `<Contents><Key>${escapeXml(name)}</Key><LastModified>${mtime.toISOString()}</LastModified><ETag>${escapeXml(etagOf(stats))}</ETag><Size>${size}</Size></Contents>`
  }

  async #send(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const stats = isName(name) ? await lstat(join(this.#folder, name)).catch(ifMissing(undefined)) : undefined
    if (!stats?.isFile()) return sendFault(response, 404, 'NoSuchKey')
    const etag = etagOf(stats)
    const wanted = request.headers['if-match']
    if (wanted !== undefined && wanted !== '*' && wanted !== etag) return sendFault(response, 412, 'PreconditionFailed')
    const [, from, to] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(request.headers.range ?? '') ?? []
    const start = Number(from ?? 0)
    const end = Math.min(stats.size, to ? Number(to) + 1 : stats.size)
    if (from !== undefined && start >= end) {
      return sendFault(response, 416, 'InvalidRange', { 'content-range': `bytes */${stats.size}` })
    }
    response.writeHead(from === undefined ? 200 : 206, {
      'accept-ranges': 'bytes',
      'content-type': 'application/octet-stream',
      'content-length': end - start,
      'last-modified': stats.mtime.toUTCString(),
      etag,
      ...(from !== undefined && { 'content-range': `bytes ${start}-${end - 1}/${stats.size}` }),
    })
    if (request.method === 'HEAD' || start === end) return void response.end()
    await pipeline(createReadStream(join(this.#folder, name), { start, end: end - 1 }), response)
  }
}

/** Takes the place of a file or folder that is not there. Other errors of the system say nothing about what is there. */
function ifMissing<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return value
    throw error
  }
}

function isName(path: string): boolean {
  return path.split('/').every((part) => NAME.test(part))
}

function toPath(pathname: string): string | undefined {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return undefined
  }
}

function etagOf({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): string {
  return `"${size.toString(16)}-${Math.floor(mtimeMs * 1_000).toString(16)}"`
}

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!)
}

function sendFault(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
