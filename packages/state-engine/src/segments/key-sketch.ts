// The sketch of the keys of a segment: the smallest hashes of its keys, at most 2,048 of them (Bar-Yossef and others,
// 2002, "Counting distinct elements in a data stream"). The smallest hashes of several files together are the smallest
// hashes of all their keys. If there are fewer than 2,048, they count the keys exactly. Otherwise the largest of them
// tells how dense the hashes are, and therefore how many keys there are, with a standard error of 1/sqrt(2,048) = 2.2
// %.

export const SKETCH_HASHES = 2_048
/** Hashes are integers below this: all of the first word of the hash of a key, and 20 bits of the second one. */
const HASHES = 2 ** 52
const SECOND_BITS = 20

/** Hash of a key in a sketch, from the two words of its hash. */
export function sketchHash(first: number, second: number): number {
  return (first >>> 0) * 2 ** SECOND_BITS + (second >>> (32 - SECOND_BITS))
}

/** Makes the sketch of keys with these hashes: two words for each key. */
export function encodeSketch(hashes: Int32Array, keys: number): Uint8Array {
  // Some more than are needed are below this bound, so that not all have to be sorted.
  const bound = keys > 2 * SKETCH_HASHES ? (1.25 * SKETCH_HASHES * HASHES) / keys : HASHES
  const smallest = smallestOf(hashes, keys, bound)
  const sketch = smallest.length < Math.min(keys, SKETCH_HASHES) ? smallestOf(hashes, keys, HASHES) : smallest
  return new Uint8Array(sketch.buffer)
}

function smallestOf(hashes: Int32Array, keys: number, bound: number): Float64Array<ArrayBuffer> {
  const found: number[] = []
  for (let at = 0; at < 2 * keys; at += 2) {
    const hash = sketchHash(hashes[at]!, hashes[at + 1]!)
    if (hash < bound) found.push(hash)
  }
  return Float64Array.from(found).sort().slice(0, SKETCH_HASHES)
}

/** Counts the distinct keys of files with these sketches: exactly if there are fewer than `SKETCH_HASHES`. */
export function countKeys(sketches: readonly Float64Array[]): number {
  const all = new Float64Array(sketches.reduce((sum, { length }) => sum + length, 0))
  let length = 0
  for (const sketch of sketches) {
    all.set(sketch, length)
    length += sketch.length
  }
  all.sort()
  let distinct = 0
  for (let at = 0; at < all.length; at++) {
    if (at > 0 && all[at] === all[at - 1]) continue
    if (++distinct === SKETCH_HASHES) return Math.round(((SKETCH_HASHES - 1) * HASHES) / all[at]!)
  }
  return distinct
}
