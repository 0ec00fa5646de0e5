import { createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Bytes that are written at once. A network gives pieces of 64 KiB, and each write is a request to another thread. */
const WRITE_BYTES = 1024 * 1024

/** Writes the whole stream to a file, replacing its content. @throws the errors of the stream and of the file system */
export async function streamToFile(from: Readable, path: string): Promise<void> {
  await pipeline(from, createWriteStream(path, { highWaterMark: WRITE_BYTES }))
}
