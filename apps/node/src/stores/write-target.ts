import { constants, createWriteStream, fstatSync, openSync, type Stats } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { pauseFor } from '@ledger-state/core'
import { followLinks } from '@ledger-state/core/files'

/** Folders of the descriptors of this process, as `/dev/stdout` leads to one. */
const DESCRIPTORS = /^\/(?:proc\/self|dev)\/fd\/(\d+)$/
const READER_CHECK_MS = 50

/** The kind of the output path of a command. */
export type WriteTarget =
  /** A file, which is there or will be. `path` is no link; `mode` are the permissions of a file that is there. */
  | { readonly kind: 'file'; readonly path: string; readonly mode: number | undefined }
  | { readonly kind: 'folder'; readonly path: string }
  /**
   * A pipe, a device or a descriptor of this process, which keeps its place. `open` waits for the reader of a pipe, and
   * resolves with undefined if the signal is aborted first.
   */
  | { readonly kind: 'stream'; open(signal: AbortSignal): Promise<Writable | undefined> }

/**
 * Finds the kind of a path, through all links. Only a file may be replaced by another one.
 * @throws errors of the system
 */
export async function findWriteTarget(path: string): Promise<WriteTarget> {
  const end = followLinks(resolve(path), (place) => DESCRIPTORS.test(place))
  const descriptor = DESCRIPTORS.exec(end)?.[1]
  if (descriptor !== undefined) return { kind: 'stream', open: async () => openDescriptor(Number(descriptor)) }
  const place = join(await realpath(dirname(end)), basename(end))
  const found = await statOf(place)
  if (found?.isDirectory()) return { kind: 'folder', path: place }
  if (found?.isFIFO()) return { kind: 'stream', open: (signal) => openPipe(place, signal) }
  if (found && !found.isFile())
    return { kind: 'stream', open: async () => (await open(place, 'w')).createWriteStream() }
  return { kind: 'file', path: place, mode: found && found.mode & 0o777 }
}

async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(absent)
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function openDescriptor(fd: number): Writable {
  const found = fstatSync(fd)
  const isPipe = found.isFIFO() || found.isSocket()
  return isPipe ? new Socket({ fd, readable: false, writable: true }) : createWriteStream('', { fd })
}

/** Opening a pipe for writing waits for its reader, which would keep a thread, and this process could not end. */
async function openPipe(path: string, signal: AbortSignal): Promise<Writable | undefined> {
  while (!signal.aborted) {
    try {
      const { O_WRONLY, O_NONBLOCK } = constants
      return new Socket({ fd: openSync(path, O_WRONLY | O_NONBLOCK), readable: false, writable: true })
    } catch (error) {
      // Nobody reads the pipe yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error
      await pauseFor(READER_CHECK_MS, signal)
    }
  }
  return undefined
}
