import { allocateBytes } from '#bytes'

/** The first key after a key, in the order of the keys' bytes. */
export function keyAfter(key: Uint8Array): Uint8Array {
  const next = allocateBytes(key.length + 1)
  next.set(key)
  next[key.length] = 0
  return next
}
