import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { isLedgerStateError } from '@ledger-state/core'
import { cannotOpen, invalidArgument, invalidBackup } from '../errors.js'

/** A stream that counts the bytes that it has read. */
export interface ByteSource extends Readable {
  readonly bytesRead: number
}

/** Bytes that are read at once. */
export const PIECE_BYTES = 256 * 1024

/**
 * Opens a regular file. The call never waits for the other end of a pipe: a thread that does cannot be stopped, and the
 * process does not end as long as it waits.
 * @throws `invalid_argument` if it cannot be opened, or is a folder, pipe, socket or device; `source_failed` if the system
 *   cannot open it now, such as when descriptors have run out
 */
export async function regularFile(path: string): Promise<ByteSource> {
  const { file } = await openRegular(path)
  return file.createReadStream({ start: 0, highWaterMark: PIECE_BYTES }) as ByteSource
}

/**
 * Reads the whole of a regular file of at most `most` bytes.
 * @throws as `regularFile`; `invalid_backup` if it is larger
 */
export async function readRegularFile(path: string, most: number): Promise<Buffer> {
  const { file, size } = await openRegular(path)
  try {
    if (size > most) throw invalidBackup.fileTooLarge(path, most)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

async function openRegular(path: string) {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (stats.isFile()) return { file, size: stats.size }
    await file.close()
    throw invalidArgument.notARegularFile(path)
  } catch (cause) {
    throw isLedgerStateError(cause) ? cause : cannotOpen(path, cause)
  }
}
