/**
 * Frees memory that is no longer read, at once. Otherwise it stays until the next collection of the old generation, and
 * each 32 MB of such memory cause one. Has no effect on shared memory, and in Node.js 20.
 */
export function freeBytes(bytes: Buffer): void {
  const { buffer } = bytes
  if (bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer?.(0)
}
