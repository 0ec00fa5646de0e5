import { hash } from 'node:crypto'

/** LMDB takes keys of up to 1,978 bytes. Longer ones are cut and get a hash, as users of LMDB do it. */
const MOST = 1_900

export function toShortKey(key: Uint8Array): Uint8Array {
  if (key.length <= MOST) return key
  return Buffer.concat([key.subarray(0, MOST), hash('sha256', key, 'buffer')])
}
