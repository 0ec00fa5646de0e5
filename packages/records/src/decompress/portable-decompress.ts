// Decompression in JavaScript, for runtimes without zstd.
import { decompress as decompressFrame } from 'fzstd'

/** As in `node-decompress.ts`. Bytes beyond the length are ignored. */
export function decompress(compressed: Uint8Array, length: number): Uint8Array | undefined {
  try {
    return decompressFrame(compressed, new Uint8Array(length))
  } catch {
    return undefined
  }
}
