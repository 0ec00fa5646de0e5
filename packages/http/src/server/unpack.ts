import { decompress } from '../protocol/content-encoding.js'

/** Gives a body as it was before its `Content-Encoding`. */
export type Unpack = (body: Buffer, encoding: string) => Promise<Buffer>

/** Decompresses a few bodies at one time, so that many small ones that decompress to large ones cannot take all memory. */
export function createUnpack(limitBytes: number, concurrency: number): Unpack {
  const waiting: (() => void)[] = []
  let running = 0

  async function begin(): Promise<void> {
    if (running >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
  }

  /** The next one takes the place over. */
  function end(): void {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return async (body, encoding) => {
    await begin()
    try {
      return await decompress(body, encoding, limitBytes)
    } finally {
      end()
    }
  }
}
