import { constants, createWriteStream, fstatSync, openSync, type Stats } from 'node:fs'
import { lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { pauseFor } from '@ledger-state/core'

/** Links that are followed, as on Linux. */
const MOST_LINKS = 40
/** Folders of the descriptors of this process, as `/dev/stdout` leads to one. */
const DESCRIPTORS = /^\/(?:proc\/self|dev)\/fd\/(\d+)$/
/** Targets of links of the kernel that are no paths, such as `pipe:[4026]`. */
const NO_PATH = /^\w+:\[/
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
  const place = await followLinks(path)
  const descriptor = DESCRIPTORS.exec(place)?.[1]
  if (descriptor !== undefined) return { kind: 'stream', open: async () => openDescriptor(Number(descriptor)) }
  const found = await statOf(place)
  if (found?.isDirectory()) return { kind: 'folder', path: place }
  if (found?.isFIFO()) return { kind: 'stream', open: (signal) => openPipe(place, signal) }
  if (found && !found.isFile())
    return { kind: 'stream', open: async () => (await open(place, 'w')).createWriteStream() }
  return { kind: 'file', path: place, mode: found && found.mode & 0o777 }
}

/** The path that links lead to, whether something is there or not. A descriptor is not followed. */
async function followLinks(path: string): Promise<string> {
  let place = resolve(path)
  for (let links = 0; ; links++) {
    if (DESCRIPTORS.test(place)) return place
    const folder = await realpath(dirname(place))
    place = join(folder, basename(place))
    if (!(await lstatOf(place))?.isSymbolicLink()) return place
    // The system's own error for links that lead in a circle.
    if (links === MOST_LINKS) return await realpath(place)
    const target = await readlink(place)
    if (NO_PATH.test(target)) return place
    place = resolve(folder, target)
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(absent)
}

async function lstatOf(path: string): Promise<Stats | undefined> {
  return await lstat(path).catch(absent)
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
