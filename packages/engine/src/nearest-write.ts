import type { WriteSearch } from './ports/async-state-port.js'
import type { Revision, StateReader } from './ports/state-port.js'

/** A reader that may have its own way to find the nearest write of a key. */
export interface SearchingReader extends StateReader {
  /** Finds the version of the nearest write; null if there is none, undefined if that is not loaded, which an async state notes. */
  nearestWrite?(key: Uint8Array, search: WriteSearch): bigint | null | undefined
}

/** Same as `SearchingReader.nearestWrite`, for any reader: if a reader does not have it, this searches its history. */
export function nearestWrite(reader: SearchingReader, key: Uint8Array, search: WriteSearch): bigint | null | undefined {
  return reader.nearestWrite ? reader.nearestWrite(key, search) : nearestInHistory(reader, key, search)
}

/** Finds the version of the nearest write in the history of a key; null if it has none. */
export function nearestInHistory(
  reader: Pick<StateReader, 'history'>,
  key: Uint8Array,
  search: WriteSearch,
): bigint | null {
  for (const { version } of historyFrom(reader, key, search)) return version
  return null
}

function historyFrom(reader: Pick<StateReader, 'history'>, key: Uint8Array, search: WriteSearch): Iterable<Revision> {
  return 'above' in search
    ? reader.history(key, { first: search.above + 1n, last: search.last, order: 'asc' })
    : reader.history(key, { last: search.until, order: 'desc' })
}
