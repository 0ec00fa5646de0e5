/** Up to this number of bytes, a loop is faster than the runtime's copy. */
const SHORT_COPY = 64

/**
 * Copies `bytes[start, end)`, by default all of them, into memory that nothing else has. `slice` does not always copy: a
 * Buffer returns a view of its memory.
 */
export function copyBytes(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array<ArrayBuffer> {
  const length = Math.max(Math.min(end, bytes.length) - start, 0)
  if (length <= SHORT_COPY) {
    const copy = new Uint8Array(length)
    for (let at = 0; at < length; at++) copy[at] = bytes[start + at]!
    return copy
  }
  if (bytes.constructor === Uint8Array) return bytes.slice(start, end)
  // A view takes as long to make as a copy of 100 bytes.
  const source = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
  const copy = new Uint8Array(source.length)
  copy.set(source)
  return copy
}
