import { existsSync } from 'node:fs'
import { isSmallBesideMemory } from '@ledger-state/state-engine'
import { open, type RootDatabaseOptionsWithPath } from 'lmdb'

/** As its documentation recommends for random reads, the system reads ahead only in what is small beside memory: by the engine's own rule. */
export function openBareLmdb(file: string, { readOnly = false } = {}) {
  const options: RootDatabaseOptionsWithPath & { readonly noReadAhead: boolean } = {
    path: file,
    encoding: 'binary',
    keyEncoding: 'binary',
    noSubdir: true,
    readOnly,
    noSync: true,
    overlappingSync: false,
    noReadAhead: !(existsSync(file) && isSmallBesideMemory(file)),
    mapSize: 2 ** 40,
  }
  return open<Buffer, Uint8Array>(options)
}
