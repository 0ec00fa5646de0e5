import { Buffer } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { walFilePath } from './append-file.js'
import { decodeFileHeader, type ExpectedHeader, FILE_HEADER_LENGTH, type FileHeader } from './file-header.js'

export interface NextFile extends FileHeader {
  readonly hasCommits: boolean
}

/** Reads the file that a writer created after another one. Undefined if there is none, or its header is not whole. */
export function readNextFile({
  folder,
  storeId,
  fileNumber,
}: Pick<ExpectedHeader, 'storeId' | 'fileNumber'> & { readonly folder: string }): NextFile | undefined {
  let descriptor: number
  try {
    descriptor = openSync(walFilePath(folder, fileNumber + 1), 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const bytes = Buffer.alloc(FILE_HEADER_LENGTH)
    const length = readSync(descriptor, bytes, 0, FILE_HEADER_LENGTH, 0)
    const header = decodeFileHeader(bytes.subarray(0, length))
    if (header?.storeId !== storeId || header.fileNumber !== fileNumber + 1) return undefined
    return { ...header, hasCommits: fstatSync(descriptor).size > FILE_HEADER_LENGTH }
  } finally {
    closeSync(descriptor)
  }
}
