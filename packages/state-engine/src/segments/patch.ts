import { type ByteOutput, MAX_VARINT_LENGTH } from './byte-output.js'

// A patch turns a value into one of the same length: runs of varint bytes skipped · varint bytes that changed · these.

/** Runs with fewer equal bytes between them are one run: another run takes at least two bytes. */
const LEAST_GAP = 3

/**
 * Appends the patch from `before[startBefore, …)` to `after[start, end)`, whose lengths are equal. Appends nothing, and
 * returns false, unless that saves a quarter.
 */
export function putPatch(
  output: ByteOutput,
  before: Uint8Array,
  startBefore: number,
  after: Uint8Array,
  start: number,
  end: number,
): boolean {
  const length = end - start
  const began = output.length
  const most = began + Math.floor((length * 3) / 4)
  let at = 0
  let patched = 0
  for (;;) {
    while (at < length && after[start + at] === before[startBefore + at]) at++
    if (at >= length) return true
    let stop = at + 1
    for (let next = stop, gap = 0; next < length && gap < LEAST_GAP; next++) {
      if (after[start + next] === before[startBefore + next]) gap++
      else {
        gap = 0
        stop = next + 1
      }
    }
    if (output.length + stop - at + 2 > most) {
      output.length = began
      return false
    }
    output.reserve(stop - at + 2 * MAX_VARINT_LENGTH)
    output.varint(at - patched)
    output.varint(stop - at)
    output.part(after, start + at, start + stop)
    patched = stop
    at = stop
  }
}

/** Applies a patch, `bytes[start, end)`, to the value `values[startOfValue, endOfValue)`. */
export function applyPatch(
  values: Uint8Array,
  startOfValue: number,
  endOfValue: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  let to = startOfValue
  for (let at = start; at < end; ) {
    let byte = bytes[at++]!
    let skipped = byte & 127
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[at++]!
      skipped += (byte & 127) * unit
    }
    byte = bytes[at++]!
    let changed = byte & 127
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[at++]!
      changed += (byte & 127) * unit
    }
    to += skipped
    if (to + changed > endOfValue || at + changed > end) return
    for (const stop = at + changed; at < stop; ) values[to++] = bytes[at++]!
  }
}
