import { bodyTooLarge } from '../errors.js'
import { ChunkCollector } from './chunk-collector.js'
import type { Exchange } from './exchange.js'
import type { Unpack } from './unpack.js'
import type { Uploads } from './uploads.js'

export interface BodyReaderOptions {
  readonly bodyLimitBytes: number
  readonly uploads: Uploads<Exchange>
  readonly unpack: Unpack
  /** The body is in `exchange.body`, as it was before its `Content-Encoding`. */
  onBody(exchange: Exchange): void
  onError(exchange: Exchange, error: unknown): void
}

/** Receives bodies. Each counts as held until its exchange is answered. */
export function createBodyReader({ bodyLimitBytes, uploads, unpack, onBody, onError }: BodyReaderOptions) {
  function unpackBody(exchange: Exchange, encoding: string): void {
    unpack(exchange.body, encoding)
      .then((body) => {
        if (exchange.isAnswered) return
        exchange.body = body
        uploads.hold(exchange, body.length)
        onBody(exchange)
      })
      .catch((error) => onError(exchange, error))
  }

  return function readBody(exchange: Exchange): void {
    const { request } = exchange
    const told = request.headers['content-length']
    if (told !== undefined && Number(told) > bodyLimitBytes) {
      onError(exchange, bodyTooLarge(bodyLimitBytes))
      return
    }
    // Requests without a body have ended from the start.
    if (request.readableEnded) {
      onBody(exchange)
      return
    }
    const chunks = new ChunkCollector()
    exchange.chunks = chunks
    uploads.begin(exchange)
    request.on('data', (chunk: Buffer) => {
      // What follows a refusal is read over.
      if (exchange.isAnswered) return
      chunks.add(chunk)
      if (chunks.length > bodyLimitBytes) onError(exchange, bodyTooLarge(bodyLimitBytes))
      else uploads.hold(exchange, chunks.heldBytes)
    })
    request.on('end', () => {
      if (exchange.isAnswered) return
      uploads.complete(exchange)
      exchange.body = chunks.take()
      const encoding = request.headers['content-encoding']
      if (encoding === undefined) onBody(exchange)
      else unpackBody(exchange, encoding)
    })
  }
}
