import { decodeUtf8 } from '@ledger-state/core/bytes'
import { inSteps, type SlicedWork } from '../sliced-work.js'
import { booleanOf, bytesAt, indexOf, toMoveString, toVector, valueAt } from './arguments.js'
import { formatList, formatValue } from './format-value.js'
import type { Native } from './native.js'

const INVALID_INDEX = 1
const INVARIANT_VIOLATION = 2000

/** Bytes of text that count as one instruction. */
const BYTES_PER_INSTRUCTION = 16

/** Bytes that a search compares at once. */
const SEARCHED_AT_ONCE = 16_384

/** Bytes to check for encoding at once, and bytes to copy at once. */
const CHECKED_AT_ONCE = 1 << 16
const COPIED_AT_ONCE = 1 << 20

/** Most bytes of a character after its first one. */
const MOST_CONTINUATIONS = 3

/** Whether a byte continues a UTF-8 character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/**
 * Searches the first index of a pattern in a text; the result is the length of the text if the pattern is not in it. The
 * failure function of Knuth, Morris and Pratt has, for each prefix of the pattern, the length of its longest proper
 * prefix that is also its suffix. With it a search takes linear time, even for patterns that repeat themselves.
 */
class Search implements SlicedWork<number> {
  readonly #text: Uint8Array
  readonly #pattern: Uint8Array
  readonly #borders: Int32Array
  /** Number of borders that are known. */
  #known = 1
  #border = 0
  #at = 0
  #matched = 0

  constructor(text: Uint8Array, pattern: Uint8Array) {
    this.#text = text
    this.#pattern = pattern
    this.#borders = new Int32Array(pattern.length)
  }

  continue(): { readonly result: number } | undefined {
    const text = this.#text
    const pattern = this.#pattern
    if (pattern.length === 0) return { result: 0 }
    let left = this.#findBorders(SEARCHED_AT_ONCE)
    for (; this.#at < text.length && left > 0; left--) {
      const byte = text[this.#at++]
      while (this.#matched > 0 && byte !== pattern[this.#matched]) this.#matched = this.#borders[this.#matched - 1]!
      if (byte === pattern[this.#matched]) this.#matched++
      if (this.#matched === pattern.length) return { result: this.#at - pattern.length }
    }
    return left > 0 ? { result: text.length } : undefined
  }

  /** Works out borders. Returns how much of the slice is left. */
  #findBorders(slice: number): number {
    const pattern = this.#pattern
    let left = slice
    for (; this.#known < pattern.length && left > 0; left--) {
      const byte = pattern[this.#known]
      while (this.#border > 0 && byte !== pattern[this.#border]) this.#border = this.#borders[this.#border - 1]!
      if (byte === pattern[this.#border]) this.#border++
      this.#borders[this.#known++] = this.#border
    }
    return left
  }
}

/** Checks in slices, each of whole characters, whether bytes are UTF-8. */
function* checkUtf8(bytes: Uint8Array): Generator<void, boolean, void> {
  for (let at = 0; at < bytes.length; ) {
    if (at > 0) yield
    let end = Math.min(at + CHECKED_AT_ONCE, bytes.length)
    for (let back = 0; back < MOST_CONTINUATIONS && end < bytes.length && isContinuation(bytes[end]!); back++) end--
    if (decodeUtf8(bytes.subarray(at, end)) === undefined) return false
    at = end
  }
  return true
}

function* copyInSteps(bytes: Uint8Array, start: number, end: number): Generator<void, Uint8Array, void> {
  const copy = new Uint8Array(end - start)
  for (let at = start; at < end; at += COPIED_AT_ONCE) {
    if (at > start) yield
    copy.set(bytes.subarray(at, Math.min(at + COPIED_AT_ONCE, end)), at - start)
  }
  return copy
}

export const STRING_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::string::internal_check_utf8': (context, [reference]) => {
    const bytes = bytesAt(reference)
    context.charge(5 + bytes.length / BYTES_PER_INSTRUCTION)
    return [context.inSlices(() => inSteps(checkUtf8(bytes)))]
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
    return [toVector(context.inSlices(() => inSteps(copyInSteps(bytes, start, end))))]
  },
  '0x1::string::internal_index_of': (context, [reference, pattern]) => {
    const text = bytesAt(reference)
    const sought = bytesAt(pattern)
    context.charge(5 + (text.length + sought.length) / 4)
    return [context.inSlices(() => new Search(text, sought))]
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
