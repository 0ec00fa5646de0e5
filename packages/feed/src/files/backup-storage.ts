import type { Readable } from 'node:stream'
import type { EpochEndingEntry, SnapshotEntry, TransactionBackupEntry, VersionRange } from './backup-entries.js'

/** An object of a backup, compressed or not. */
export interface StoredObject {
  /** Path below the root of the backup, with slashes. */
  readonly name: string
  /** Length of the object as it is stored. */
  readonly bytes: number
  /** Whether the length is an estimate, because it is not known before the object was read. */
  readonly isEstimate?: boolean | undefined
}

/** A range of the stored bytes of an object, from byte `from` to the byte before `to`. */
export interface ByteRange {
  readonly from: number
  readonly to?: number | undefined
}

/**
 * Storage that holds a backup. Names never lead out of it; objects other than metadata never change once they are
 * written.
 */
export interface BackupStorage {
  /** The root of the backup, as messages name it. */
  readonly root: string
  /** The name of an object in messages. */
  placeOf(name: string): string
  /**
   * Lists the objects that lie directly in a folder (`''` is the root), in no order. Yields none if there is no such
   * folder.
   */
  list(folder: string): AsyncIterable<StoredObject>
  /** Forgets the listing of a folder, if it is remembered: the next `list` and `find` ask again. */
  forgetListing?(folder: string): void
  /** Looks an object up by its exact name. */
  find(name: string): Promise<StoredObject | undefined>
  /** Opens an object, which must exist, or a range of it. The stream throws its errors. */
  open(name: string, range?: ByteRange): Readable
  /** Path of a local file with the whole object. Threads read large objects from there, more than once. */
  localFile(name: string): Promise<string>
  /** Gives up a local file. If it is a copy, it is removed. */
  release(path: string): Promise<void>
  /** Bytes fetched from elsewhere so far; undefined for a folder. */
  readonly fetchedBytes?: number | undefined
  /** Notifies a storage that keeps completely read parts: versions of a range, a state, epoch changes. */
  keepTransactions?(entry: TransactionBackupEntry, range: VersionRange): Promise<void>
  keepSnapshot?(entry: SnapshotEntry, epoch: bigint): Promise<void>
  keepEndings?(entry: EpochEndingEntry): Promise<void>
  /** Ends transfers, and removes copies. */
  close(): Promise<void>
}
