import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gunzip, gzip, inflate } from 'node:zlib'
import { bodyNotEncodedSo, bodyTooLarge, contentEncodingUnsupported } from '../errors.js'
import { parseQualityList } from './quality-list.js'

/** Size below which answers are not compressed, because that would cost more than it saves. */
export const MIN_COMPRESSED_BYTES = 1_024

/**
 * Quality that compresses about as well as gzip at its default, in less time; the default of 11 takes seconds a
 * megabyte.
 */
const BROTLI_QUALITY = 4

const COMPRESS = {
  br: (body: Uint8Array) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body: Uint8Array) => promisify(gzip)(body),
} as const

export type ContentEncoding = keyof typeof COMPRESS

/** The encoding that a client accepts with the highest quality, brotli first among equals; undefined for none. */
export function chooseEncoding(acceptEncoding: string | undefined): ContentEncoding | undefined {
  if (acceptEncoding === undefined) return undefined
  const accepted = parseQualityList(acceptEncoding)
  const qualityOf = (name: string) => (accepted.get(name) ?? accepted.get('*'))?.quality ?? 0
  const [br, gz, identity] = [qualityOf('br'), qualityOf('gzip'), accepted.get('identity')?.quality ?? 0]
  const best = br >= gz ? 'br' : 'gzip'
  const quality = Math.max(br, gz)
  return quality > 0 && quality >= identity ? best : undefined
}

export function compress(body: Uint8Array, encoding: ContentEncoding): Promise<Buffer> {
  return COMPRESS[encoding](body)
}

const DECOMPRESS = { br: promisify(brotliDecompress), gzip: promisify(gunzip), deflate: promisify(inflate) } as const

/**
 * Decompresses the body of a request by its `Content-Encoding`.
 * @throws `body_too_large` if it is longer than the limit, `invalid_request` if it does not decompress,
 * `content_type_unsupported` for other encodings
 */
export async function decompress(body: Buffer, encoding: string, limitBytes: number): Promise<Buffer> {
  if (encoding === 'identity') return body
  if (!Object.hasOwn(DECOMPRESS, encoding)) throw contentEncodingUnsupported(encoding)
  try {
    return await DECOMPRESS[encoding as keyof typeof DECOMPRESS](body, { maxOutputLength: limitBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(limitBytes)
    throw bodyNotEncodedSo(encoding)
  }
}
