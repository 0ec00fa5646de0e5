import { once } from 'node:events'
import { promisify } from 'node:util'
import { brotliDecompress, constants, createBrotliCompress, createGzip, gunzip, inflate } from 'node:zlib'
import { bodyTooLarge, contentTypeUnsupported, invalidRequest } from '../errors.js'
import type { ChunkedBytes } from './chunked-bytes.js'
import { parseQualityList } from './quality-list.js'

/** Size below which answers are not compressed, because that would cost more than it saves. */
export const MIN_COMPRESSED_BYTES = 1_024

/**
 * Quality that compresses about as well as gzip at its default, in less time; the default of 11 takes seconds a
 * megabyte.
 */
const BROTLI_QUALITY = 4

const COMPRESSORS = {
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: () => createGzip(),
} as const

export type ContentEncoding = keyof typeof COMPRESSORS

/** The encoding that a client accepts with the highest quality, brotli first among equals; undefined for none. */
export function chooseEncoding(acceptEncoding: string | undefined): ContentEncoding | undefined {
  if (acceptEncoding === undefined) return undefined
  const accepted = parseQualityList(acceptEncoding)
  const qualityOf = (...names: readonly string[]) => {
    const named = names.find((name) => accepted.has(name)) ?? '*'
    return accepted.get(named)?.quality ?? 0
  }
  const [br, gz, identity] = [qualityOf('br'), qualityOf('gzip', 'x-gzip'), accepted.get('identity')?.quality ?? 0]
  const best = br >= gz ? 'br' : 'gzip'
  const quality = Math.max(br, gz)
  return quality > 0 && quality >= identity ? best : undefined
}

/** Compresses a body in another thread, chunk by chunk. */
export async function compress(body: readonly Uint8Array[], encoding: ContentEncoding): Promise<ChunkedBytes> {
  const compressor = COMPRESSORS[encoding]()
  const chunks: Uint8Array[] = []
  compressor.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  // All chunks are in memory already, so they can wait in the compressor.
  for (const chunk of body) compressor.write(chunk)
  compressor.end()
  await once(compressor, 'end')
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // Several chunks may lie in one block of memory.
  const capacity = chunks.reduce((sum, chunk) => sum + Math.min(chunk.buffer.byteLength, 2 * chunk.length), 0)
  return { length, capacity, chunks }
}

/** Whether a client accepts a coding by its name, with any quality above 0. */
export function acceptsCoding(acceptEncoding: string | undefined, name: string): boolean {
  return acceptEncoding !== undefined && (parseQualityList(acceptEncoding).get(name)?.quality ?? 0) > 0
}

/** Content codings by their names; `x-gzip` is another name of gzip (RFC 9110, 8.4.1.3). */
const DECOMPRESS = {
  br: promisify(brotliDecompress),
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
} as const

/** The coding that a `Content-Encoding` names, in lower case; undefined for none. Several stay a list. */
function codingOf(contentEncoding: string): string | undefined {
  const codings = contentEncoding.toLowerCase().split(',', MOST_CODINGS)
  const named = codings.map((one) => one.trim()).filter((one) => one !== '' && one !== 'identity')
  return named.length === 0 ? undefined : named.join(', ')
}

/** Most codings of a body that are looked at. More than one is refused. */
const MOST_CODINGS = 8

/**
 * Decompresses the body of a request by its `Content-Encoding`, in any case.
 * @throws `body_too_large` if it is longer than the limit, `invalid_request` if it does not decompress,
 * `content_type_unsupported` for other encodings
 */
export async function decompress(body: Buffer, contentEncoding: string, limitBytes: number): Promise<Buffer> {
  const encoding = codingOf(contentEncoding)
  if (encoding === undefined) return body
  if (!Object.hasOwn(DECOMPRESS, encoding)) throw contentTypeUnsupported.contentEncodingUnsupported(contentEncoding)
  try {
    return await DECOMPRESS[encoding as keyof typeof DECOMPRESS](body, { maxOutputLength: limitBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge.longerThan(limitBytes)
    throw invalidRequest.bodyNotEncodedSo(encoding)
  }
}
