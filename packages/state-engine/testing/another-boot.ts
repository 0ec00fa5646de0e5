import { Buffer } from 'node:buffer'
import { readFileSync, writeFileSync } from 'node:fs'
import { listWalFiles, walFilePath } from '../src/wal/append-file.ts'
import {
  decodeFileHeader,
  encodeSyncMark,
  FILE_HEADER_LENGTH,
  readSyncMarks,
  recordSeed,
  syncMarkOffset,
} from '../src/wal/file-header.js'

/** A boot id that no machine has. */
const OTHER_BOOT = 1n

/** Copies a WAL file as it would be after the machine was restarted. */
export function inAnotherBoot(file: Buffer): Buffer {
  const header = decodeFileHeader(file.subarray(0, FILE_HEADER_LENGTH))
  if (!header) return file
  const copy = Buffer.from(file)
  const seed = recordSeed(header.storeId, header.fileNumber)
  for (const { place, ...mark } of readSyncMarks(file, seed)) {
    encodeSyncMark({ ...mark, bootId: OTHER_BOOT }, seed).copy(copy, syncMarkOffset(place))
  }
  return copy
}

/** Changes the store in a folder as if it was written before the machine was restarted. */
export function moveToAnotherBoot(folder: string): void {
  for (const number of listWalFiles(folder)) {
    const path = walFilePath(folder, number)
    writeFileSync(path, inAnotherBoot(readFileSync(path)))
  }
}
