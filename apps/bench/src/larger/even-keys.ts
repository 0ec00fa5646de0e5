import { createRandom } from '@ledger-state/testing/random'

const KEY_LENGTH = 97
const VALUE_LENGTH = 132
const CONTENT_BYTES = 2 ** 20
/** Coprime to the length of what they step through. */
const KEY_STEP = 7_919
const VALUE_STEP = 104_729

const content = Buffer.from(createRandom(1).bytes(CONTENT_BYTES))

/** The keys of a store by number, in the order of their bytes, and as far from each other. Content is random. */
export function evenKey(number: number, keys: number): Uint8Array {
  const key = Buffer.allocUnsafe(KEY_LENGTH)
  const from = (number * KEY_STEP) % (CONTENT_BYTES - KEY_LENGTH)
  content.copy(key, 0, from, from + KEY_LENGTH)
  key[0] = 1
  key.writeBigUInt64BE(BigInt(number) * (2n ** 64n / BigInt(keys)), 1)
  return key
}

export function evenValue(number: number): Uint8Array {
  const from = (number * VALUE_STEP) % (CONTENT_BYTES - VALUE_LENGTH)
  return content.subarray(from, from + VALUE_LENGTH)
}

/** Numbers of keys that are drawn evenly. */
export function drawnKeys(keys: number, count: number, seed: number): Uint32Array {
  const random = createRandom(seed)
  return Uint32Array.from({ length: count }, () => random.below(keys))
}
