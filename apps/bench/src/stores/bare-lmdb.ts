import { existsSync } from 'node:fs'
import { isSmallBesideMemory } from '@ledger-state/state-engine'
import { open, type RootDatabaseOptionsWithPath } from 'lmdb'

/**
 * Opens LMDB as its documentation recommends for random reads, without reading ahead; read-ahead is on by the rule of
 * the engine.
 */
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
