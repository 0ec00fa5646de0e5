import { readFileSync } from 'node:fs'
import { FILE_HEADER_LENGTH } from '../src/wal/file-header.ts'
import { RECORD_HEADER_LENGTH } from '../src/wal/record.ts'

/** Offset at which the records of an undamaged WAL file end; zeros may follow. */
export function endOfRecords(file: string): number {
  const bytes = readFileSync(file)
  let at = FILE_HEADER_LENGTH
  while (bytes.toString('latin1', at, at + 4) === 'LSWR') at += RECORD_HEADER_LENGTH + bytes.readUInt32BE(at + 4)
  return at
}
