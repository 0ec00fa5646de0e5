import { LedgerStateError } from './error.js'
import { quote } from './quote.js'

/** Codes of texts and bytes that cannot be parsed. */
export type ParseErrorCode = 'invalid_address' | 'invalid_hex' | 'invalid_u64' | 'invalid_bcs'

type ParseError = LedgerStateError<ParseErrorCode>

export function invalidAddress(text: string, why: string): ParseError {
  return new LedgerStateError('invalid_address', `Invalid account address ${quote(text)}: ${why}`)
}

export function invalidHex(text: string, why: string): ParseError {
  return new LedgerStateError('invalid_hex', `${why} in hex text ${quote(text)}`)
}

export function invalidU64(text: string, why: string): ParseError {
  return new LedgerStateError('invalid_u64', `Parsing u64 string ${quote(text)} failed: ${why}`)
}

export function invalidBcs(why: string, offset: number): ParseError {
  return new LedgerStateError('invalid_bcs', `${why} at byte ${offset}`, { offset })
}
