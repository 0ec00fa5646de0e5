import { existsSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { open, type RootDatabaseOptionsWithPath } from 'lmdb'

/** As its documentation recommends for random reads, the system reads ahead only in what is small beside the memory. */
export function openBareLmdb(file: string, { readOnly = false } = {}) {
  const options: RootDatabaseOptionsWithPath & { readonly noReadAhead: boolean } = {
    path: file,
    encoding: 'binary',
    keyEncoding: 'binary',
    noSubdir: true,
    readOnly,
    noSync: true,
    overlappingSync: false,
    noReadAhead: !existsSync(file) || statSync(file).size > totalmem() / 4,
    mapSize: 2 ** 40,
  }
  return open<Buffer, Uint8Array>(options)
}
