import {
  INDEX_BYTES_PER_KEY,
  INDEX_BYTES_PER_WRITE,
  MEASURED,
  MEASURED_COMPRESSED,
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
  /** Bytes of the files. */
  readonly diskBytes: number
  /** Memory of all processes with two readers, and of the indexes and filters of the files. */
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
  { bytesPerWrite, bytesPerKey, growth }: MeasuredSizes,
  isWhole = false,
): Forecast {
  const writes = versions * writesPerVersion
  // A whole window has no state before it, and is not pruned.
  const diskBytes = isWhole ? writes * bytesPerWrite : (keys * bytesPerKey + writes * bytesPerWrite) * growth
  const indexBytes = (isWhole ? 0 : keys * INDEX_BYTES_PER_KEY) + writes * INDEX_BYTES_PER_WRITE
  const processes = SUPERVISOR_BYTES + READERS * READER_BYTES + WRITER_BYTES
  const memoryBytes = processes + Math.min(diskBytes, indexBytes)
  const seconds = (amount: number, rate: number): number =>
    amount / (diskBytes > SUPPOSED_MEMORY_BYTES ? Math.min(rate, WRITES_PER_SECOND.large) : rate)
  const snapshotSeconds = isWhole ? 0 : seconds(keys, WRITES_PER_SECOND.snapshot)
  return {
    diskBytes,
    memoryBytes,
    backupSeconds: snapshotSeconds + seconds(writes, WRITES_PER_SECOND.backup),
    nodeSeconds: snapshotSeconds + seconds(writes, WRITES_PER_SECOND.node),
  }
}

/** Forecasts the size of a window of a ledger that was not measured. */
export function forecastUnmeasured(versions: number, shape: LedgerShape, isWhole = false): Forecast {
  const plain = forecastWindow(versions, shape, MEASURED, isWhole)
  // The option `compress: auto`.
  const isCompressed = plain.diskBytes > SUPPOSED_MEMORY_BYTES / 2
  return isCompressed ? forecastWindow(versions, shape, MEASURED_COMPRESSED, isWhole) : plain
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
    measured: { bytesPerKey: bytesPerWrite, bytesPerWrite, growth: fileBytes / used },
  }
}
