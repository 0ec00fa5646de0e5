import { statSync } from 'node:fs'
import { memoryBytes } from '@ledger-state/state-engine'
import { open, type RootDatabaseOptionsWithPath } from 'lmdb'

/** Share of the memory up to which a file is read ahead: a larger one would evict pages that are in use. */
const READ_AHEAD_SHARE = 1 / 4

/** Opens LMDB as its documentation recommends for random reads: without reading ahead, unless the file is small. */
export function openBareLmdb(file: string, { readOnly = false } = {}) {
  const options: RootDatabaseOptionsWithPath & { readonly noReadAhead: boolean } = {
    path: file,
    encoding: 'binary',
    keyEncoding: 'binary',
    noSubdir: true,
    readOnly,
    noSync: true,
    overlappingSync: false,
    noReadAhead:
      (statSync(file, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY) >= memoryBytes() * READ_AHEAD_SHARE,
    mapSize: 2 ** 40,
  }
  return open<Buffer, Uint8Array>(options)
}
