/** The end of a record of a write-ahead file, or of its header. */
export interface LogPosition {
  /** Bytes of the file up to there. */
  readonly length: number
  /** The number of the commit that follows. */
  readonly nextCommit: number
  /** The running checksum of the file up to there. */
  readonly checksum: number
}

/** A position in the write-ahead file with a number; 0 if there is none. */
export interface LogFilePosition extends LogPosition {
  readonly fileNumber: number
}

/** A position in no file. */
export const NO_POSITION: LogPosition = { length: 0, nextCommit: 0, checksum: 0 }
