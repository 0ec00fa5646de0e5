/** A text as a value in JSON, or its fault. */
export type ReadText = { readonly json: string } | { readonly problem: string }

const WHOLE = /^-?\d+$/
const INTEGER = /^([ui])(8|16|32|64|128|256)$/
/** Integers of at most this size are JSON numbers; larger ones are texts. */
const MOST_NUMBER_BITS = 32
const ADDRESS = /^(?:0x)?[0-9a-fA-F]{1,64}$/
const MOST_DIGITS = 80

/** Reads a value of a type that fits one field; undefined for other types. */
export function textReaderOf(type: string): ((text: string) => ReadText) | undefined {
  const integer = INTEGER.exec(type)
  if (integer) return (text) => readInteger(text.trim(), integer[1] === 'i', Number(integer[2]))
  if (type === 'address') return readAddress
  if (type === '0x1::object::Object') {
    return (text) => {
      const read = readAddress(text)
      return 'json' in read ? { json: `{"inner":${read.json}}` } : read
    }
  }
  return type === '0x1::string::String' ? (text) => ({ json: JSON.stringify(text) }) : undefined
}

function readInteger(text: string, isSigned: boolean, bits: number): ReadText {
  if (text === '') return { problem: 'A number is missing.' }
  if (!WHOLE.test(text)) return { problem: `“${cut(text)}” is not a whole number.` }
  const least = isSigned ? -(2n ** BigInt(bits - 1)) : 0n
  const most = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n
  const value = text.length > MOST_DIGITS ? undefined : BigInt(text)
  if (value === undefined || value < least || value > most) return { problem: `It must be from ${least} to ${most}.` }
  return { json: bits <= MOST_NUMBER_BITS ? String(value) : `"${value}"` }
}

function readAddress(text: string): ReadText {
  const trimmed = text.trim()
  if (trimmed === '') return { problem: 'An address is missing.' }
  if (!ADDRESS.test(trimmed)) {
    return { problem: `“${cut(trimmed)}” is not an address: that is 0x and 1 to 64 hexadecimal digits.` }
  }
  return { json: JSON.stringify(trimmed.startsWith('0x') ? trimmed : `0x${trimmed}`) }
}

/** Reads a value that is written as JSON. */
export function readJson(text: string): ReadText {
  if (text.trim() === '') return { problem: 'A value is missing.' }
  try {
    JSON.parse(text)
    return { json: text }
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}.` }
  }
}

function cut(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
