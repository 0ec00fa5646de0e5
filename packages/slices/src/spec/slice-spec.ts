import { addressToShortHex, parseAddress } from '@ledger-state/core'
import { beginSha3 } from '@ledger-state/proof'
import { invalidSlice } from '../errors.js'
import { type IdList, PackedIds } from './packed-ids.js'
import { parseTypePattern, type TypePattern, typePatternToText } from './type-pattern.js'

/** Specification of a slice: the part of a ledger to keep. */
export interface SliceSpec {
  /** Accounts of 32 bytes whose whole state is kept. */
  readonly accounts: IdList
  /** Handles of 32 bytes of tables whose items are kept. */
  readonly tables: IdList
  /** Types whose resources are kept at any address. */
  readonly types: readonly TypePattern[]
}

/** Texts that specify a slice: addresses, handles and types. */
export interface SliceTexts {
  readonly accounts?: Iterable<string> | undefined
  readonly tables?: Iterable<string> | undefined
  readonly types?: Iterable<string> | undefined
  /** Lines of a file, in order. Each is an address, `table` and a handle, or a type; `#` begins a comment. */
  readonly lines?: Iterable<string> | undefined
}

/**
 * Makes a specification from texts. It has each member once, in a fixed order. Ten million accounts take 320 MB.
 * @throws `invalid_address`, `invalid_type_tag`; `invalid_slice` with the number of a line, or if nothing is asked for
 * @example
 * ```ts
 * import { parseSliceSpec, sliceSpecToLines } from '@ledger-state/slices'
 *
 * const spec = parseSliceSpec({ accounts: ['0xcafe'], lines: ['0x1::fungible_asset::Supply'] })
 * console.log([...sliceSpecToLines(spec)]) // [ '0xcafe', '0x1::fungible_asset::Supply' ]
 * ```
 */
export function parseSliceSpec({ accounts = [], tables = [], types = [], lines = [] }: SliceTexts): SliceSpec {
  const ids = { account: new PackedIds(), table: new PackedIds() }
  const patterns = new Map<string, TypePattern>()
  const addType = (pattern: TypePattern): void => void patterns.set(typePatternToText(pattern), pattern)
  for (const address of accounts) ids.account.add(parseAddress(address))
  for (const handle of tables) ids.table.add(parseAddress(handle))
  for (const type of types) addType(parseTypePattern(type))
  for (const asked of parseSliceLines(lines)) {
    if (asked.kind === 'type') addType(asked.pattern)
    else ids[asked.kind].add(asked.id)
  }
  if (ids.account.length + ids.table.length + patterns.size === 0) throw invalidSlice.sliceOfNothing()
  return {
    accounts: ids.account.settle(),
    tables: ids.table.settle(),
    types: [...patterns].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pattern]) => pattern),
  }
}

/** Meaning of one line. */
export type SliceLine =
  | { readonly kind: 'account' | 'table'; readonly id: Uint8Array }
  | { readonly kind: 'type'; readonly pattern: TypePattern }

/**
 * Reads the lines of a file one by one, as `parseSliceSpec` does.
 * @throws (the iteration) `invalid_slice` with the number of the line
 */
export function* parseSliceLines(lines: Iterable<string>): Generator<SliceLine> {
  let number = 0
  for (const line of lines) {
    number++
    const comment = line.indexOf('#')
    const words = (comment < 0 ? line : line.slice(0, comment)).trim()
    if (words === '') continue
    try {
      yield parseWords(words)
    } catch (error) {
      throw invalidSlice.invalidSliceLine(number, error)
    }
  }
}

function parseWords(words: string): SliceLine {
  const table = /^table\s+(\S+)$/.exec(words)?.[1]
  if (table !== undefined) return { kind: 'table', id: parseAddress(table) }
  if (words.includes('::')) return { kind: 'type', pattern: parseTypePattern(words) }
  return { kind: 'account', id: parseAddress(words) }
}

/** The lines of a specification, which `parseSliceSpec` reads back. */
export function* sliceSpecToLines({ accounts, tables, types }: SliceSpec): Generator<string> {
  for (const address of accounts) yield addressToShortHex(address)
  for (const handle of tables) yield `table ${addressToShortHex(handle)}`
  for (const type of types) yield typePatternToText(type)
}

/** Characters that are hashed at once. */
const PIECE_LENGTH = 2_048

/**
 * Digest of 32 bytes that is equal for equal specifications: the SHA3-256 of the lines, with a line feed between them.
 */
export function sliceDigest(spec: SliceSpec): Uint8Array {
  const hash = beginSha3()
  const encoder = new TextEncoder()
  let piece = ''
  let separator = ''
  for (const line of sliceSpecToLines(spec)) {
    piece += separator + line
    separator = '\n'
    if (piece.length < PIECE_LENGTH) continue
    hash.update(encoder.encode(piece))
    piece = ''
  }
  hash.update(encoder.encode(piece))
  return new Uint8Array(hash.digest())
}
