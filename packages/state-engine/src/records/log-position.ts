/** The end of a record of a WAL file, or of its header. */
export interface LogPosition {
  /** Number of bytes of the file up to the position. */
  readonly length: number
  /** Number of the commit that follows. */
  readonly nextCommit: number
  /** Running checksum of the file up to the position. */
  readonly checksum: number
}

/** A position in the WAL file with the given number; number 0 if there is no file. */
export interface LogFilePosition extends LogPosition {
  readonly fileNumber: number
}

export function isSameEnd(a: LogFilePosition, b: LogFilePosition): boolean {
  return a.fileNumber === b.fileNumber && a.length === b.length && a.checksum === b.checksum
}

/** Position that means none. */
export const NO_POSITION: LogPosition = { length: 0, nextCommit: 0, checksum: 0 }
