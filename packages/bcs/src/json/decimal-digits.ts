import type { ByteWriter } from '@ledger-state/core'

/** Most decimal digits of a number that a double always holds. */
export const SMALL_DIGITS = 15

/** Number of the digits in `text[start, end)`, at most 15 of them; -1 if they are not all digits. */
export function parseDigits(text: string, start: number, end: number): number {
  if (start === end) return -1
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/** Writes a u64 of 16 to 20 digits, `text[start, end)`. If they are something else, it writes nothing and returns false. */
export function writeLargeU64(text: string, start: number, end: number, writer: ByteWriter): boolean {
  const length = end - start
  if (length <= SMALL_DIGITS || length > 20) return false
  const upper = parseDigits(text, start, end - 9)
  const lower = parseDigits(text, end - 9, end)
  if (upper < 0 || lower < 0) return false
  // Computes upper * 10^9 + lower, 16 bits at a time, so that a double holds each step.
  const step = (upper % 0x1_0000) * 1e9 + lower
  const rest = Math.floor(upper / 0x1_0000) * 1e9 + Math.floor(step / 0x1_0000)
  const high = Math.floor(rest / 0x1_0000)
  if (high > 0xffff_ffff) return false
  writer.unsignedHalves(((rest % 0x1_0000) * 0x1_0000 + (step % 0x1_0000)) | 0, high | 0, 8)
  return true
}
