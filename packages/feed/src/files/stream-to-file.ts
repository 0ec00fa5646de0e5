import { createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A network gives pieces of 64 KiB. Another thread writes to files: it is asked once for many of them. */
const WRITE_BYTES = 1024 * 1024

/**
 * Writes all that a stream gives to a file, which is emptied before.
 * @param flush whether the bytes are on the disk at the end
 * @throws what the stream throws, and the file system
 */
export async function streamToFile(from: Readable, path: string, flush = false): Promise<void> {
  await pipeline(from, createWriteStream(path, { highWaterMark: WRITE_BYTES, flush }))
}
