import { compareBytes } from '#bytes'

/** Whether two byte strings are the same, or both are absent. */
export function isSameBytes(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined): boolean {
  if (!a || !b) return a === b
  return a.length === b.length && compareBytes(a, b) === 0
}

/** Whether bytes begin with others. It compares from the end: keys of a scan differ there first. */
export function beginsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  if (bytes.length < start.length) return false
  for (let at = start.length - 1; at >= 0; at--) if (bytes[at] !== start[at]) return false
  return true
}
