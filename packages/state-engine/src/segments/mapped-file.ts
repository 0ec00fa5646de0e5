import { rmSync } from 'node:fs'
import { storeFailed } from '@ledger-state/engine/authoring'
import * as lmdb from 'lmdb'
import { openEnvironment } from '../lmdb/open-environment.js'
import { toBytes } from './byte-output.js'
import { fileLength, SEGMENT_KEY } from './lmdb-envelope.js'

/** The segment of a file in LMDB's memory map. */
export interface MappedFile {
  /** The segment. Nobody may read it after `close`: that would end the process. */
  readonly bytes: Uint8Array
  close(): void
}

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
/** A key that begins as that of the segment does, and has no value: to look it up copies nothing. */
const ABSENT_KEY = Buffer.concat([SEGMENT_KEY, Buffer.of(0)])

/** Maps the segment of `length` bytes in a file. @throws `store_failed` if lmdb-js maps something else */
export function mapFile(path: string, length: number): MappedFile {
  const options = { readOnly: true, isFinal: true, readAhead: false, mapBytes: fileLength(length) }
  const database = openEnvironment(path, options) as unknown as Database
  // Nobody ever writes to the environment, so nobody needs its table of readers. An open file cannot be removed on Windows.
  if (process.platform !== 'win32') rmSync(`${path}-lock`, { force: true })
  try {
    database.getBinaryFast(ABSENT_KEY)
    const value = nativeAddon.getSharedByBinary(database.dbAddress, SEGMENT_KEY.length)
    if (value?.length !== length) throw storeFailed(`lmdb-js maps ${value?.length} bytes of ${path}`, undefined)
    const bytes = toBytes(value)
    return { bytes, close: () => void database.close() }
  } catch (error) {
    void database.close()
    throw error
  } finally {
    database.resetReadTxn()
  }
}
