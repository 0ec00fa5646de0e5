import { bodyTooLarge, clientLeft, overloaded } from '../errors.js'
import { ChunkCollector } from './chunk-collector.js'
import type { Exchange } from './exchange.js'
import type { Unpack } from './unpack.js'
import type { Upload, Uploads } from './uploads.js'

export interface BodyReaderOptions {
  readonly bodyLimitBytes: number
  readonly uploads: Uploads
  readonly decompress: Unpack
  /** The body is in `exchange.body`, as it was before its `Content-Encoding`. */
  onBody(exchange: Exchange): void
  onError(exchange: Exchange, error: unknown): void
}

/** Receives the body of a request. Until the exchange is answered, its body counts as held. */
export function createBodyReader({ bodyLimitBytes, uploads, decompress, onBody, onError }: BodyReaderOptions) {
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
    const upload: Upload = {
      heldBytes: 0,
      drop() {
        exchange.isLast = true
        fail(overloaded())
      },
    }
    function fail(error: unknown): void {
      chunks.clear()
      onError(exchange, error)
    }
    exchange.upload = upload
    uploads.begin(upload)
    request.on('data', (chunk: Buffer) => {
      if (exchange.isAnswered) return
      chunks.add(chunk)
      if (chunks.length > bodyLimitBytes) fail(bodyTooLarge(bodyLimitBytes))
      else uploads.hold(upload, chunks.heldBytes)
    })
    request.on('end', () => {
      if (exchange.isAnswered) return
      uploads.complete(upload)
      exchange.body = chunks.take()
      const encoding = request.headers['content-encoding']
      if (encoding === undefined) onBody(exchange)
      else {
        decompress(exchange.body, encoding)
          .then((body) => {
            if (exchange.isAnswered) return
            exchange.body = body
            uploads.hold(upload, body.length)
            onBody(exchange)
          })
          .catch((error) => onError(exchange, error))
      }
    })
    // The connection is gone before the body was in.
    request.on('error', () => fail(clientLeft()))
  }
}
