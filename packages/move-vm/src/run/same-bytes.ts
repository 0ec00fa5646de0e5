/** Whether two arrays have the same bytes. State keys differ most often at their end, so that comes first. */
export function areSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let at = a.length - 1; at >= 0; at--) if (a[at] !== b[at]) return false
  return true
}
