// Inflating in JavaScript, for runtimes other than Node: their DecompressionStream takes no dictionary.
import { inflateSync } from 'fflate'

/** As in `node-inflate.ts`. Bytes beyond the length are ignored. */
export function inflate(deflated: Uint8Array, dictionary: Uint8Array, length: number): Uint8Array | undefined {
  try {
    return inflateSync(deflated, { dictionary, out: new Uint8Array(length) })
  } catch {
    return undefined
  }
}
