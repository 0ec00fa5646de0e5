import { limitFunction } from 'p-limit'
import { decompress } from '../protocol/content-encoding.js'

/** Gives a body as it was before its `Content-Encoding`. */
export type Unpack = (body: Buffer, encoding: string) => Promise<Buffer>

/** Decompresses a few bodies at one time, so that many small ones that decompress to large ones cannot take all memory. */
export function createUnpack(limitBytes: number, concurrency: number): Unpack {
  return limitFunction((body: Buffer, encoding) => decompress(body, encoding, limitBytes), { concurrency })
}
