import { constants, open } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { cannotOpen, sourceFailed } from '../errors.js'
import type { ByteSource } from './regular-file.js'

/** Names of descriptors that the process inherited. */
const DESCRIPTOR = /^\/(?:dev\/fd|proc\/self\/fd)\/(\d{1,6})$/

/**
 * Number of the descriptor that a path names: `/dev/stdin`, or `/dev/fd/63` as a shell passes it for `<(…)`; undefined
 * for other paths.
 */
export function descriptorOf(path: string): number | undefined {
  if (path === '/dev/stdin') return 0
  const number = DESCRIPTOR.exec(path)?.[1]
  return number === undefined ? undefined : Number(number)
}

/**
 * Opens a pipe: a named one, or the pipe or socket of a descriptor. Unlike a read of a file, waiting for its other end can
 * be stopped: the stream then throws `source_failed`.
 * @throws `invalid_argument`
 */
export async function openPipe(path: string, signal: AbortSignal | undefined): Promise<ByteSource> {
  try {
    const fd = descriptorOf(path) ?? (await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK))
    const pipe = new Socket({ fd, readable: true, writable: false })
    const stop = () => pipe.destroy(sourceFailed.transferStopped(path))
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    return pipe
  } catch (cause) {
    throw cannotOpen(path, cause)
  }
}
