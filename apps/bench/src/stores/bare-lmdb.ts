import { existsSync } from 'node:fs'
import { isSmallBesideMemory } from '@ledger-state/state-engine'
import { open, type RootDatabaseOptionsWithPath } from 'lmdb'

/** LMDB's documentation recommends to read nothing ahead for random reads; read-ahead is on by the engine's own rule. */
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
