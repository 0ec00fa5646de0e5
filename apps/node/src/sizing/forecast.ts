import {
  INNER_BYTES_PER_KEY,
  type MeasuredSizes,
  READER_BYTES,
  SUPERVISOR_BYTES,
  SUPPOSED_MEMORY_BYTES,
  WRITER_BYTES,
  WRITES_PER_SECOND,
} from './measured.js'

export interface LedgerShape {
  /** Keys of the newest state. */
  readonly keys: number
  readonly writesPerVersion: number
}

export interface Forecast {
  /** Bytes of the data file. */
  readonly diskBytes: number
  /** Memory of all processes with two readers, and of the inner pages of the store. */
  readonly memoryBytes: number
  /**
   * Seconds for a state snapshot, unless the window is whole, and then for the versions of the window from a backup.
   */
  readonly backupSeconds: number
  /** Seconds for a state snapshot and for the versions from a node that answers in 100 ms. */
  readonly nodeSeconds: number
}

const READERS = 2

/** Forecasts the size of a window. `isWhole`: the window begins with genesis, and all keys were written in it. */
export function forecastWindow(
  versions: number,
  { keys, writesPerVersion }: LedgerShape,
  { bytesPerWrite, bytesPerKey, freePages }: MeasuredSizes,
  isWhole = false,
): Forecast {
  const writes = versions * writesPerVersion
  // In a whole window, the first write of each key superseded nothing.
  const superseding = isWhole ? Math.max(0, writes - keys) : writes
  const diskBytes = (keys * bytesPerKey + superseding * bytesPerWrite) * freePages
  const processes = SUPERVISOR_BYTES + READERS * READER_BYTES + WRITER_BYTES
  const memoryBytes = processes + Math.min(diskBytes, keys * INNER_BYTES_PER_KEY)
  const seconds = (amount: number, rate: number): number =>
    amount / (diskBytes > SUPPOSED_MEMORY_BYTES ? Math.min(rate, WRITES_PER_SECOND.beyondMemory) : rate)
  const snapshotSeconds = isWhole ? 0 : seconds(keys, WRITES_PER_SECOND.snapshot)
  return {
    diskBytes,
    memoryBytes,
    backupSeconds: snapshotSeconds + seconds(writes, WRITES_PER_SECOND.backup),
    nodeSeconds: snapshotSeconds + seconds(writes, WRITES_PER_SECOND.node),
  }
}

/** Size and versions of a store. */
export interface StoreFigures {
  readonly keys: number
  /** Number of writes after the oldest version. */
  readonly historyEntries: number
  /** Number of writes in the files. */
  readonly mergedWrites: number
  readonly fileBytes: number
  readonly freeBytes: number
  /** Number of versions of the window, from the oldest to the newest. */
  readonly versions: number
}

/**
 * Measures shape and bytes of a store as it is. Undefined if nothing was written after the oldest version: one version
 * does not suffice for a forecast.
 */
export function measureStore(store: StoreFigures): { shape: LedgerShape; measured: MeasuredSizes } | undefined {
  const { keys, historyEntries, mergedWrites, versions, fileBytes, freeBytes } = store
  if (keys === 0 || historyEntries === 0 || mergedWrites === 0) return undefined
  const used = Math.max(1, fileBytes - freeBytes)
  const bytesPerWrite = used / mergedWrites
  return {
    shape: { keys, writesPerVersion: historyEntries / versions },
    measured: { bytesPerKey: bytesPerWrite, bytesPerWrite, freePages: fileBytes / used },
  }
}
