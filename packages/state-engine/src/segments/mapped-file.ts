import { randomBytes } from 'node:crypto'
import { linkSync } from 'node:fs'
import { removeIfPossible } from '@ledger-state/core/files'
import { storeFailed } from '@ledger-state/engine/authoring'
import * as lmdb from 'lmdb'
import { openEnvironment } from '../lmdb/open-environment.js'
import { toBytes } from './byte-output.js'
import { fileLength, SEGMENT_KEY } from './lmdb-envelope.js'
import type { SegmentFile } from './segment-file.js'

/** The segment of a file in LMDB's memory map. */
export interface MappedFile {
  /** The segment. Nobody may read it after `close`: that would end the process. */
  readonly bytes: Uint8Array
  close(): void
}

/** A file that is open. */
export type MappableFile = Pick<SegmentFile, 'path' | 'length' | 'isInPlace'>

/** Prefix of the name of a file while it is being mapped; a random end follows. */
export const MAPPED = '.map-'

/** Functions of lmdb-js 3.5.6 that it neither documents nor declares. `mapped-file.test.ts` shows what they do. */
interface NativeAddon {
  /**
   * Returns a buffer over the value in the map, without a copy. The key is the beginning of the buffer into which the
   * thread wrote the key of its last read, and the read transaction is that of this read.
   */
  getSharedByBinary(database: number, keyLength: number): Buffer | undefined
}

interface Database {
  readonly dbAddress: number
  getBinaryFast(key: Uint8Array): Buffer | undefined
  resetReadTxn(): void
  close(): Promise<void>
}

const { nativeAddon } = lmdb as unknown as { readonly nativeAddon: NativeAddon }
/** A key without a value that begins like the key of the segment: looking it up copies nothing. */
const ABSENT_KEY = Buffer.concat([SEGMENT_KEY, Buffer.of(0)])

/**
 * Maps the segment of a file. @throws an error of the system if the file is gone, or if the folder takes no links or other
 * files; `store_failed` if another file has its name, or if lmdb-js maps something else
 */
export function mapFile(file: MappableFile): MappedFile {
  const { path, length } = file
  // lmdb-js 3.5.6 may crash if LMDB cannot open the file, such as one that a merge has just removed. So it gets a name of its
  // own, which nobody removes. This way its lock file is private, too: nobody ever writes, so nobody needs the lock.
  const name = `${path}${MAPPED}${randomBytes(8).toString('hex')}`
  linkSync(path, name)
  try {
    // The path had the file before the link, so the link is of the file if the path still has it. The numbers of the link itself
    // may be others: on an overlay with layers on two disks they are those of the upper layer.
    if (!file.isInPlace()) throw storeFailed(`another file is at ${path}`, undefined)
    return mapNamed(name, length)
  } finally {
    // An open file cannot be removed on Windows; the next writer does that.
    for (const one of [name, `${name}-lock`]) removeIfPossible(one)
  }
}

function mapNamed(path: string, length: number): MappedFile {
  const options = { readOnly: true, isFinal: true, mapBytes: fileLength(length) }
  const database = openEnvironment(path, options) as unknown as Database
  try {
    database.getBinaryFast(ABSENT_KEY)
    const value = nativeAddon.getSharedByBinary(database.dbAddress, SEGMENT_KEY.length)
    if (value?.length !== length) throw storeFailed(`lmdb-js maps ${value?.length} bytes of ${path}`, undefined)
    return { bytes: toBytes(value), close: () => void database.close() }
  } catch (error) {
    void database.close()
    throw error
  } finally {
    database.resetReadTxn()
  }
}
