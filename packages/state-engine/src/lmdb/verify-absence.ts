import { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord } from '../bytes/record.js'
import { keyToStoredKey, storedKeySeed } from '../bytes/stored-key.js'
import type { LmdbStore } from './lmdb-store.js'
import type { ReadOptions, Table } from './table.js'

// Pages of LMDB have no checksums. A search in a damaged page ends beside a wrong node, or on a page that the key does not
// belong to, and finds nothing. But it ends between two neighbours, so one of these is the damaged node, or out of order: the
// checksum of a record covers its key. So a key is absent if both neighbours are sound, and the key is between them.
// lmdb-js takes a node with an empty key, as zeros are, for the end of the database. So the end is compared with the first or
// last key, which is found from the other side.

type Latest = Pick<LmdbStore, 'latestByStoredKey'>

/** Checks that a key has no record after a search found none. @throws `store_corrupt` */
export function expectAbsent(store: Latest, key: Uint8Array, options: ReadOptions): void {
  const stored = keyToStoredKey(key)
  const before = soundBefore(store, stored, options)
  const [after] = store.latestByStoredKey.getRange({ start: stored, end: undefined, limit: 1, ...options })
  if (after) {
    expectSound(after)
    if (Buffer.compare(after.key, stored) <= 0) throw misplaced()
  } else expectLast(store, before, options)
  if (!before) expectFirst(store, after?.key, options)
}

/**
 * Lists the stored keys from `start` to `end`, exclusive, and checks their records, and those before the first and after the
 * last of them.
 * @throws `store_corrupt`
 */
export function listVerifiedKeys(
  store: Latest,
  start: Uint8Array,
  end: Uint8Array,
  options: ReadOptions,
  limit = Number.POSITIVE_INFINITY,
): Uint8Array[] {
  const keys: Uint8Array[] = []
  const before = soundBefore(store, start, options)
  let [least, isEnd] = [start, true]
  let first: Uint8Array | undefined
  for (const entry of store.latestByStoredKey.getRange({ start, end: undefined, ...options })) {
    expectSound(entry)
    first ??= entry.key
    const order = Buffer.compare(entry.key, least)
    if (order < 0 || (order === 0 && keys.length > 0)) throw misplaced()
    isEnd = Buffer.compare(entry.key, end) < 0
    if (!isEnd) break
    keys.push(entry.key)
    least = entry.key
    isEnd = keys.length < limit
    if (!isEnd) break
  }
  if (isEnd) expectLast(store, keys.at(-1) ?? before, options)
  if (!before) expectFirst(store, first, options)
  return keys
}

/** The key before another one, whose record is sound. */
function soundBefore({ latestByStoredKey }: Latest, stored: Uint8Array, options: ReadOptions): Uint8Array | undefined {
  const backward = { start: stored, end: undefined, reverse: true, limit: 2, ...options }
  for (const before of latestByStoredKey.getRange(backward)) {
    expectSound(before)
    const order = Buffer.compare(before.key, stored)
    if (order > 0) throw misplaced()
    if (order < 0) return before.key
  }
  return undefined
}

/** Checks that a key is the first, or that the database is empty if none is given. */
function expectFirst({ latestByStoredKey }: Latest, key: Uint8Array | undefined, options: ReadOptions): void {
  const [first] = latestByStoredKey.getKeys({ ...WHOLE, limit: 1, ...options })
  if (first === undefined ? key !== undefined : !key || Buffer.compare(first, key) !== 0) throw misplaced()
  if (first === undefined) expectEmpty(latestByStoredKey)
}

/** Checks that a key is the last, or that the database is empty if none is given. */
function expectLast({ latestByStoredKey }: Latest, key: Uint8Array | undefined, options: ReadOptions): void {
  const [last] = latestByStoredKey.getKeys({ ...WHOLE, reverse: true, limit: 1, ...options })
  if (last === undefined ? key !== undefined : !key || Buffer.compare(last, key) !== 0) throw misplaced()
  if (last === undefined) expectEmpty(latestByStoredKey)
}

/** Checks a database without readable records: in the newest state, as its counts are of that. */
function expectEmpty(table: Table<Uint8Array>): void {
  const [any] = table.getKeys({ ...WHOLE, limit: 1 })
  if (any === undefined && table.getStats().entryCount > 0) throw misplaced()
}

const WHOLE = { start: undefined, end: undefined }

function expectSound({ key, value }: { readonly key: Uint8Array; readonly value: Buffer }): void {
  openRecord(value, storedKeySeed(key), () => 'a latest record')
}

function misplaced(): Error {
  return storeCorrupt('the database latest has damaged pages; a check says where')
}

/** Names of the records of the database `meta`. */
const META_NAMES = new Set([
  'layout',
  'store-id',
  'ledger',
  'mark',
  'truncations',
  'reverting',
  'merging',
  'importing',
  'import-mark',
])

/**
 * Checks the names of the records of the database `meta`, though some may be absent: a damaged page has a name that no
 * record has, or lacks those that every store has.
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
