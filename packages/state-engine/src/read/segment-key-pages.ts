import { Buffer } from 'node:buffer'
import { SegmentKeys } from '../segments/segment-keys.js'
import type { SegmentSlice } from './segment-slices.js'

export interface FirstKeys {
  readonly keys: Uint8Array[]
  /** Whether there are no further keys. */
  readonly isWhole: boolean
}

/** The first keys in segment files that begin with a prefix and are at or above `begin`, each once. @throws `store_corrupt` */
export function firstSegmentKeys(
  slices: readonly SegmentSlice[],
  prefix: Uint8Array,
  begin: Uint8Array,
  count: number,
): FirstKeys {
  const cursors = slices.map(({ reader }) => {
    const cursor = new SegmentKeys(reader)
    cursor.seek(begin)
    return cursor
  })
  const keys: Uint8Array[] = []
  for (;;) {
    let least: Uint8Array | undefined
    for (const { key } of cursors) if (key && (!least || Buffer.compare(key, least) < 0)) least = key
    if (!least || !beginsWith(least, prefix)) return { keys, isWhole: true }
    if (keys.length === count) return { keys, isWhole: false }
    keys.push(least)
    for (const cursor of cursors) if (cursor.key && Buffer.compare(cursor.key, least) === 0) cursor.next()
  }
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
}
