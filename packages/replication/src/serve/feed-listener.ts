import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { PassThrough, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { bytesToHex, isU64 } from '@ledger-state/core'
import { sliceDigestOf } from '@ledger-state/slices'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import { createBackupListener } from './backup-listener.js'
import { liveLines } from './live-lines.js'
import { RecentLines } from './recent-lines.js'
import { SnapshotShelf } from './snapshot-shelf.js'

/** The store that is served to replicas, and the bounds of serving it. */
export interface FeedListenerOptions {
  readonly engine: LmdbEngineReader
  /** Folder for snapshots while replicas fetch them, on a disk with room for a copy of the store. */
  readonly snapshotFolder: string
  /** Folder of a backup that is also served, below `/backup`; by default none. */
  readonly backupFolder?: string | undefined
  /** Most feeds and files that are sent at the same time; 100 by default. */
  readonly maxTransfers?: number | undefined
  /** Called with errors that cannot be answered to a client: failures of the store. */
  readonly onError?: ((error: unknown) => void) | undefined
}

const BACKUP_PATH = '/backup'

/** Request listener for `node:http` that serves the feed of a store. */
export interface FeedListener {
  readonly listener: RequestListener
  /** Ends all feeds, and removes snapshots. Resolves once one that is being taken has ended; closing its engine ends it early. */
  close(): Promise<void>
}

/**
 * Serves a store to replicas, on an address that only replicas can reach:
 *
 * - `GET /` returns the chain and the window;
 * - `GET /feed?from=V` streams the versions since V as a ledger feed, then each commit as it is made; 410 if V is not
 *   above the oldest version, 404 if it is more than one above the latest;
 * - `POST /snapshots` takes a snapshot, `GET /snapshots/ID` lists its files, `GET /snapshots/ID/FILE?offset=N` sends one.
 *
 * With `backupFolder`, `GET /backup` lists the folder of a backup as a bucket of S3 does, and `GET /backup/NAME` sends
 * an object or a range of it.
 *
 * Answers are compressed with zstd if the client accepts it.
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs'
 * import { tmpdir } from 'node:os'
 * import { join } from 'node:path'
 * import { once } from 'node:events'
 * import { createServer } from 'node:http'
 * import type { AddressInfo } from 'node:net'
 * import { createFeedListener } from '@ledger-state/replication'
 * import { openStateEngine } from '@ledger-state/state-engine'
 *
 * const folder = mkdtempSync(join(tmpdir(), 'feed-'))
 * const engine = openStateEngine({ path: join(folder, 'store') })
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
 * const feed = createFeedListener({ engine, snapshotFolder: join(folder, 'snapshots') })
 * const server = createServer(feed.listener)
 * await once(server.listen(0, '127.0.0.1'), 'listening')
 * const { port } = server.address() as AddressInfo
 * console.log((await fetch(`http://127.0.0.1:${port}/`)).status) // 200
 * const closed = feed.close()
 * server.close()
 * await engine.close()
 * await closed
 * ```
 */
export function createFeedListener(options: FeedListenerOptions): FeedListener {
  const server = new FeedServer(options)
  const { backupFolder, maxTransfers } = options
  const backup =
    backupFolder === undefined
      ? undefined
      : createBackupListener({ folder: backupFolder, path: BACKUP_PATH, maxTransfers })
  return {
    listener(request, response) {
      if (backup && /^\/backup(?:[/?]|$)/.test(request.url ?? '')) backup(request, response)
      else void server.answer(request, response)
    },
    close: () => server.close(),
  }
}

class FeedServer {
  readonly #engine: LmdbEngineReader
  readonly #shelf: SnapshotShelf
  readonly #recent: RecentLines
  readonly #maxTransfers: number
  readonly #onError: (error: unknown) => void
  readonly #ending = new AbortController()
  #transfers = 0

  constructor({ engine, snapshotFolder, maxTransfers = 100, onError = () => {} }: FeedListenerOptions) {
    this.#engine = engine
    this.#recent = new RecentLines(engine)
    this.#shelf = new SnapshotShelf(engine, snapshotFolder)
    this.#maxTransfers = maxTransfers
    this.#onError = onError
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#shelf.close()
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response)
    } catch (error) {
      if (!isDisconnect(error)) this.#onError(error)
      if (response.headersSent) response.destroy()
      else sendError(response, 500, 'the store cannot be read')
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url!, 'http://feed')
    const [first, id, name, ...more] = url?.pathname.split('/').slice(1) ?? []
    const route =
      more.length > 0
        ? ''
        : `${request.method} ${first}${id === undefined ? '' : name === undefined ? '/ID' : '/ID/FILE'}`
    const engine = this.#engine
    if (!engine.ledger) return sendError(response, 503, 'the store is empty')
    if (route === 'GET ') return sendJson(response, 200, this.#index())
    if (route === 'GET feed') return await this.#sendFeed(request, response, url!.searchParams.get('from') ?? '')
    if (route === 'POST snapshots') return sendJson(response, 201, await this.#shelf.take())
    if (route === 'GET snapshots/ID') {
      const snapshot = this.#shelf.find(id!)
      return snapshot ? sendJson(response, 200, snapshot) : sendError(response, 404, 'no such snapshot')
    }
    if (route !== 'GET snapshots/ID/FILE') return sendError(response, 404, 'no such resource')
    const path = this.#shelf.fileOf(id!, name!)
    const offset = Number(url!.searchParams.get('offset') ?? 0)
    if (!path || !Number.isSafeInteger(offset) || offset < 0) return sendError(response, 404, 'no such file')
    await this.#transfer(request, response, 'application/octet-stream', async (sink) => {
      const shelf = this.#shelf
      const noted = async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          shelf.noteFetch(id!)
          yield chunk
        }
      }
      await pipeline(createReadStream(path, { start: offset }), noted, sink, { signal: this.#ending.signal })
    })
  }

  #index() {
    const { chainId, oldestVersion, latestVersion } = this.#engine.ledger!
    const slice = sliceDigestOf(this.#engine)
    return {
      format: 'ledger-feed',
      chain_id: Number(chainId),
      oldest_version: String(oldestVersion),
      latest_version: String(latestVersion),
      ...(slice && { slice: bytesToHex(slice) }),
    }
  }

  async #sendFeed(request: IncomingMessage, response: ServerResponse, fromText: string): Promise<void> {
    const from = /^\d{1,20}$/.test(fromText) ? BigInt(fromText) : undefined
    if (from === undefined || !isU64(from)) return sendError(response, 400, 'expected from=VERSION, a u64')
    const { oldestVersion, latestVersion } = this.#engine.ledger!
    if (from <= oldestVersion) return sendError(response, 410, `the feed begins after version ${oldestVersion}`)
    if (from > latestVersion + 1n) return sendError(response, 404, `the newest version is ${latestVersion}`)
    await this.#transfer(request, response, 'application/x-ndjson', async (sink) => {
      const left = new AbortController()
      response.once('close', () => left.abort())
      const signal = AbortSignal.any([left.signal, this.#ending.signal])
      for await (const { text, isEnd } of liveLines(this.#engine, this.#recent, from, signal)) {
        if (!sink.write(text)) await once(sink, 'drain', { signal })
        if (isEnd && 'flush' in sink) (sink as { flush(): void }).flush()
      }
      sink.end()
    })
  }

  /** Sends the output of `work`, compressed if the client accepts it. */
  async #transfer(
    request: IncomingMessage,
    response: ServerResponse,
    type: string,
    work: (sink: Writable) => Promise<void>,
  ): Promise<void> {
    if (this.#transfers >= this.#maxTransfers) return sendError(response, 503, 'too many transfers')
    this.#transfers++
    const isPacked = /\bzstd\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(request.headers['accept-encoding'] ?? ''))
    response.writeHead(200, { 'content-type': type, ...(isPacked && { 'content-encoding': 'zstd' }) })
    const sink = isPacked ? createZstdCompress() : new PassThrough()
    const sent = pipeline(sink, response)
    sent.catch(() => {})
    try {
      await Promise.all([work(sink), sent])
    } finally {
      sink.destroy()
      this.#transfers--
    }
  }
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { message })
}

/** Whether an error means that the client has left or that the server ends. */
function isDisconnect(error: unknown): boolean {
  const { code, name } = error as NodeJS.ErrnoException
  return (
    name === 'AbortError' ||
    code === 'ERR_STREAM_PREMATURE_CLOSE' ||
    code === 'ERR_STREAM_DESTROYED' ||
    code === 'ECONNRESET' ||
    code === 'EPIPE'
  )
}
