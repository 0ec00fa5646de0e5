import { copyBytes, decodeUtf8 } from '@ledger-state/core/bytes'
import { booleanOf, bytesAt, indexOf, toMoveString, toVector, valueAt } from './arguments.js'
import { formatList, formatValue } from './format-value.js'
import type { Native } from './native.js'

const INVALID_INDEX = 1
const INVARIANT_VIOLATION = 2000

/** Bytes of text that count as one instruction. */
const BYTES_PER_INSTRUCTION = 16

/** Whether a byte continues a UTF-8 character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/**
 * The failure function of Knuth, Morris and Pratt: for each prefix of the pattern, the length of its longest proper
 * prefix that is also its suffix. With it a search takes linear time, even for patterns that repeat themselves.
 */
function borders(pattern: Uint8Array): Int32Array {
  const lengths = new Int32Array(pattern.length)
  let length = 0
  for (let at = 1; at < pattern.length; at++) {
    while (length > 0 && pattern[at] !== pattern[length]) length = lengths[length - 1]!
    if (pattern[at] === pattern[length]) length++
    lengths[at] = length
  }
  return lengths
}

/** The first index of a pattern in a text; the length of the text if the pattern is not in it. */
function indexOfBytes(text: Uint8Array, pattern: Uint8Array): number {
  if (pattern.length === 0) return 0
  const lengths = borders(pattern)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== pattern[matched]) matched = lengths[matched - 1]!
    if (text[at] === pattern[matched]) matched++
    if (matched === pattern.length) return at + 1 - pattern.length
  }
  return text.length
}

export const STRING_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::string::internal_check_utf8': (context, [reference]) => {
    const bytes = bytesAt(reference)
    context.charge(5 + bytes.length / BYTES_PER_INSTRUCTION)
    return [decodeUtf8(bytes) !== undefined]
  },
  '0x1::string::internal_is_char_boundary': (context, [reference, position]) => {
    const bytes = bytesAt(reference)
    const at = indexOf(position)
    context.charge(5)
    return [at === 0 || at === bytes.length || (at < bytes.length && !isContinuation(bytes[at]!))]
  },
  '0x1::string::internal_sub_string': (context, [reference, from, to]) => {
    const bytes = bytesAt(reference)
    const start = indexOf(from)
    const end = indexOf(to)
    if (end < start) context.abort(INVALID_INDEX)
    if (end > bytes.length) context.fault(INVARIANT_VIOLATION, 'a substring beyond the end of its text')
    context.charge(5)
    context.chargeBytes(end - start)
    return [toVector(copyBytes(bytes, start, end))]
  },
  '0x1::string::internal_index_of': (context, [reference, pattern]) => {
    const text = bytesAt(reference)
    const sought = bytesAt(pattern)
    context.charge(5 + (text.length + sought.length) / 4)
    return [indexOfBytes(text, sought)]
  },
  '0x1::string_utils::native_format': (context, [reference, typeTag, canonicalize, singleLine, integerTypes]) => {
    const style = {
      showsTypes: booleanOf(typeTag),
      showsWholeAddresses: booleanOf(canonicalize),
      isSingleLine: booleanOf(singleLine),
      showsIntegerTypes: booleanOf(integerTypes),
    }
    return [toMoveString(formatValue(context, context.typeArguments[0]!, valueAt(reference), style))]
  },
  '0x1::string_utils::native_format_list': (context, [format, list]) => [
    toMoveString(formatList(context, bytesAt(format), context.typeArguments[0]!, valueAt(list))),
  ],
}
