import { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import type { ReadOptions, Table } from './table.js'

// Pages of LMDB have no checksums. A search in a damaged page finds nothing, and lmdb-js takes a node with an empty key, as
// zeros are, for the end of the database.

const WHOLE = { start: undefined, end: undefined }

/** Names of the records of the database `meta`. */
const META_NAMES = new Set([
  'layout',
  'store-id',
  'segments-id',
  'ledger',
  'mark',
  'truncations',
  'importing',
  'import-mark',
])

/**
 * Checks the names of the records in the database `meta`. A damaged page has a name that no record has, or misses one
 * that every store has.
 * @throws `store_corrupt`
 */
export function expectSoundNames(meta: Table<Uint8Array>, options: ReadOptions): void {
  const list = (reverse: boolean) =>
    [...meta.getKeys({ ...WHOLE, reverse, ...options })].map((name) => Buffer.from(name).toString('latin1'))
  const names = list(false)
  const isSound = names.every((name, at) => META_NAMES.has(name) && (at === 0 || names[at - 1]! < name))
  if (
    !isSound ||
    !names.includes('layout') ||
    !names.includes('store-id') ||
    list(true).reverse().join() !== names.join()
  ) {
    throw storeCorrupt('the database meta has damaged records; a check says where')
  }
}
