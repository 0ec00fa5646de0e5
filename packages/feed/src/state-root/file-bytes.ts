import type { Buffer } from 'node:buffer'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { badStateTree, spillFailed } from '../errors.js'

// Bytes of files of leaves, keys, cuts and trees.

/** Does work on a file that is written. @throws `spill_failed` */
export function orSpillFailed<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw spillFailed.cannotSpill(path, error)
  }
}

/** Writes all bytes at a place. @throws `spill_failed` */
export function writeAt(path: string, descriptor: number, bytes: Uint8Array, place: number): void {
  orSpillFailed(path, () => {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(descriptor, bytes, done, bytes.length - done, place + done)
    }
  })
}

/**
 * Fills bytes from a file, starting at a place. Returns whether the file has them all.
 * @throws `spill_failed` if the system does not read it, which says nothing about its content
 */
export function fillFrom(path: string, descriptor: number, bytes: Buffer, place: number): boolean {
  try {
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(descriptor, bytes, done, bytes.length - done, place + done)
      if (read === 0) return false
      done += read
    }
    return true
  } catch (error) {
    throw spillFailed.cannotRead(path, error)
  }
}

/** Same as `fillFrom`, and returns the bytes. @throws `state_tree_damaged` if the file ends before; as `fillFrom` */
export function readAt(path: string, descriptor: number, bytes: Buffer, place: number): Buffer {
  if (!fillFrom(path, descriptor, bytes, place)) throw badStateTree(path, 'it is cut short')
  return bytes
}

/**
 * Opens a file to read it, and closes it again if `open` throws. Undefined if there is none.
 * @throws `spill_failed` if the system does not open it; as `open`
 */
export function openToRead<File>(path: string, open: (descriptor: number) => File): File | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw spillFailed.cannotRead(path, error)
  }
  try {
    return open(descriptor)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}
