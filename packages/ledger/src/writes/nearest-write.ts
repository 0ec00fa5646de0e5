import type { Revision, StateReader, WriteSearch } from '@ledger-state/engine'

/** A reader that may have its own way to find the nearest write of a key. */
export interface SearchingReader extends StateReader {
  /** Null where there is no write; undefined where that is not loaded, which an async state notes. */
  nearestWrite?(key: Uint8Array, search: WriteSearch): bigint | null | undefined
}

/** Same as `SearchingReader.nearestWrite`, of any reader: of one that has no way of its own, what its history says. */
export function nearestWrite(reader: SearchingReader, key: Uint8Array, search: WriteSearch): bigint | null | undefined {
  return reader.nearestWrite ? reader.nearestWrite(key, search) : nearestInHistory(reader, key, search)
}

/** The version of the nearest write that the history of a key has; null where it has none. */
export function nearestInHistory(reader: StateReader, key: Uint8Array, search: WriteSearch): bigint | null {
  for (const { version } of historyFrom(reader, key, search)) return version
  return null
}

function historyFrom(reader: StateReader, key: Uint8Array, search: WriteSearch): Iterable<Revision> {
  return 'above' in search
    ? reader.history(key, { first: search.above + 1n, last: search.last, order: 'asc' })
    : reader.history(key, { last: search.until, order: 'desc' })
}
