import { Buffer } from 'node:buffer'
import { deflateRawSync } from 'node:zlib'
import { ByteWriter } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { type KeyLists, keysOfList } from './keys-file.js'
import { MOST_PART_DEPTH } from './leaves-file.js'

/** Bytes of a named key before the key: the first two bytes of its hash, and the length of the key, u32. */
export const NAMED_KEY_HEADER = 6
/** Keys have much in common, and a proof decompresses thousands: the fastest level. */
const LEVEL = 1

/** The length of the named key at a place. */
export function namedKeyLength(bytes: Uint8Array, at: number): number {
  return NAMED_KEY_HEADER + new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 2, true)
}

/**
 * Adds keys to the compressed lists of a part.
 * @param named keys with the first bits of their hashes; a key may come several times, or be in the lists already
 */
export function mergeKeys({ lists, lengths }: KeyLists, named: Uint8Array): KeyLists {
  const fresh = lengths.length === 0 ? [] : Array.from(lengths, (): Uint8Array[] => [])
  for (let at = 0; at < named.length; ) {
    const length = namedKeyLength(named, at)
    const prefix = ((named[at]! << 8) | named[at + 1]!) >> (16 - MOST_PART_DEPTH)
    fresh[prefix % fresh.length]!.push(named.subarray(at + NAMED_KEY_HEADER, at + length))
    at += length
  }
  const merged: Uint8Array[] = []
  let at = 0
  for (const [place, keys] of fresh.entries()) {
    const list = lists.subarray(at, at + lengths[place]!)
    at += list.length
    merged.push(keys.length === 0 ? list : withKeys(list, keys))
  }
  return {
    lists: new Uint8Array(Buffer.concat(merged)),
    lengths: Uint32Array.from(merged, ({ length }) => length),
  }
}

function withKeys(list: Uint8Array, added: Uint8Array[]): Uint8Array {
  const before = keysOfList(list)
  const all = [...before, ...added].sort(compareBytes)
  const keys = all.filter((key, at) => at === 0 || compareBytes(key, all[at - 1]!) !== 0)
  if (keys.length === before.length) return list
  const writer = new ByteWriter()
  for (const key of keys) writer.byteString(key)
  return deflateRawSync(writer.toBytes(), { level: LEVEL })
}
