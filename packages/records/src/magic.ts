/** Bytes of an ASCII text, such as the one with which a mark begins. */
export function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
