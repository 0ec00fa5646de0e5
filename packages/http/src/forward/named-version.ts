import { ByteReader, isLedgerStateError, parseU64 } from '@ledger-state/core'

// Finds the version that an answer about one transaction or one block names.

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING: readonly number[] = [0x7b, 0x5b]
const CLOSING: readonly number[] = [0x7d, 0x5d]
const COLON = 0x3a
const SPACES: readonly number[] = [0x20, 0x09, 0x0a, 0x0d]

/** Variant, in BCS, of a transaction that the ledger has. Other variants are pending. */
const ON_CHAIN = 0

/**
 * Value of a member of the object in a JSON text, if it is a decimal string; undefined if the object has no such member
 * within these bytes. Reads only up to the member.
 */
export function stringMemberOf(json: Uint8Array, member: string): string | undefined {
  const name = Buffer.from(`"${member}"`)
  let depth = 0
  for (let at = 0; at < json.length; ) {
    const byte = json[at]!
    if (byte !== QUOTE) {
      if (OPENING.includes(byte)) depth++
      else if (CLOSING.includes(byte)) depth--
      at++
      continue
    }
    const end = endOfString(json, at)
    const isName = depth === 1 && end - at === name.length && name.compare(json, at, end) === 0
    const colonAt = isName ? skipSpaces(json, end) : end
    at = end
    if (!isName || json[colonAt] !== COLON) continue
    const valueAt = skipSpaces(json, colonAt + 1)
    if (json[valueAt] !== QUOTE) return undefined
    return Buffer.from(json.subarray(valueAt + 1, endOfString(json, valueAt) - 1)).toString()
  }
  return undefined
}

/** Offset after the closing quote; the end of the bytes if there is no such quote. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === BACKSLASH) at++
    else if (json[at] === QUOTE) return at + 1
  }
  return json.length
}

function skipSpaces(json: Uint8Array, start: number): number {
  let at = start
  while (at < json.length && SPACES.includes(json[at]!)) at++
  return at
}

/**
 * The version that the first bytes of an answer name. Undefined if the answer names none; `unknown` if later bytes may
 * name one.
 * @param isWhole whether the bytes are the whole answer
 */
export function namedVersion(
  bytes: Uint8Array,
  { isJson, member, isWhole }: { readonly isJson: boolean; readonly member: string; readonly isWhole: boolean },
): bigint | 'unknown' | undefined {
  try {
    if (!isJson) return transactionVersion(bytes)
    const text = stringMemberOf(bytes, member)
    if (text !== undefined) return parseU64(text)
    return isWhole ? undefined : 'unknown'
  } catch (error) {
    if (isLedgerStateError(error)) return 'unknown'
    throw error
  }
}

function transactionVersion(bytes: Uint8Array): bigint | undefined {
  const reader = new ByteReader(bytes)
  return reader.readU8() === ON_CHAIN ? reader.readU64() : undefined
}
