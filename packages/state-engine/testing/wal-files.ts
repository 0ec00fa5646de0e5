import { readFileSync, writeFileSync } from 'node:fs'
import { FILE_HEADER_LENGTH, syncMarkOffset } from '../src/wal/file-header.ts'
import { RECORD_HEADER_LENGTH } from '../src/wal/record.ts'

/** Offset at which the records of an undamaged WAL file end; zeros may follow. */
export function endOfRecords(file: string): number {
  const bytes = readFileSync(file)
  let at = FILE_HEADER_LENGTH
  while (bytes.toString('latin1', at, at + 4) === 'LSWR') at += RECORD_HEADER_LENGTH + bytes.readUInt32BE(at + 4)
  return at
}

/** Whether a WAL file has a sync mark of a position. */
export function hasSyncMark(file: string, position: number): boolean {
  return placeOfMark(readFileSync(file), position) !== undefined
}

/** Makes a WAL file one whose writer was killed before it wrote a sync mark of a position. */
export function removeSyncMark(file: string, position: number): void {
  const bytes = readFileSync(file)
  const place = placeOfMark(bytes, position)
  if (place === undefined) return
  bytes.fill(0, syncMarkOffset(place), syncMarkOffset(place) + 512)
  writeFileSync(file, bytes)
}

function placeOfMark(bytes: Buffer, position: number): number | undefined {
  return [0, 1].find((place) => bytes.readBigUInt64BE(syncMarkOffset(place)) === BigInt(position))
}
