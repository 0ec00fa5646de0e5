import type { Readable } from 'node:stream'
import type { EpochEndingEntry, SnapshotEntry, TransactionBackupEntry, VersionRange } from './backup-entries.js'

/** An object of a backup, compressed or not. */
export interface StoredObject {
  /** Path below the root of the backup, with slashes. */
  readonly name: string
  /** Length as it is stored. */
  readonly bytes: number
  /** Whether the length is an estimate, where nothing says it before the object was read. */
  readonly isEstimate?: boolean | undefined
}

/** Bytes of an object as they are stored: `from` is the first, `to` the one after the last. */
export interface ByteRange {
  readonly from: number
  readonly to?: number | undefined
}

/** Storage that holds a backup. Names never lead out of it; objects other than metadata never change once they are written. */
export interface BackupStorage {
  /** The root, as messages name it. */
  readonly root: string
  /** Names an object in messages. */
  placeOf(name: string): string
  /** Lists the objects that lie directly in a folder (`''` is the root), in no order; none where there is no such folder. */
  list(folder: string): AsyncIterable<StoredObject>
  /** Looks an object up by its exact name. */
  find(name: string): Promise<StoredObject | undefined>
  /** Opens an object, which was found, or a range of it. What goes wrong is thrown by the stream. */
  open(name: string, range?: ByteRange): Readable
  /** Path of a local file with the whole object. Threads read and read again from there what is large. */
  localFile(name: string): Promise<string>
  /** Says that a local file is not needed any more: where it is a copy, it is removed. */
  release(path: string): Promise<void>
  /** Bytes that came from elsewhere so far; undefined of a folder. */
  readonly fetchedBytes?: number | undefined
  /** Say what was read whole, to a storage that keeps it: versions of a stretch, a state, ends of epochs. */
  keepTransactions?(entry: TransactionBackupEntry, range: VersionRange): Promise<void>
  keepSnapshot?(entry: SnapshotEntry, epoch: bigint): Promise<void>
  keepEndings?(entry: EpochEndingEntry): Promise<void>
  /** Ends transfers, and removes copies. */
  close(): Promise<void>
}
