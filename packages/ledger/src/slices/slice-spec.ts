import { addressToLongHex, addressToShortHex, parseAddress } from '@ledger-state/core'
import { sha3Of } from '#sha3-256'
import { invalidSliceLine, sliceOfNothing } from '../errors.js'
import { parseTypePattern, type TypePattern, typePatternToText } from './type-pattern.js'

/** What a slice of a ledger is asked to keep. */
export interface SliceSpec {
  /** All state under these addresses. 32 bytes each. */
  readonly accounts: readonly Uint8Array[]
  /** The items of the tables of these handles. 32 bytes each. */
  readonly tables: readonly Uint8Array[]
  /** Resources of these types, at any address. */
  readonly types: readonly TypePattern[]
}

/** The texts that a slice is asked for with: addresses, handles and types. */
export interface SliceTexts {
  readonly accounts?: readonly string[] | undefined
  readonly tables?: readonly string[] | undefined
  readonly types?: readonly string[] | undefined
}

/**
 * Makes a specification out of texts. Each member stands in it once, in one order.
 * @throws `invalid_address`, `invalid_type_tag`; `invalid_slice` where nothing is asked for
 * @example
 * ```ts
 * import { parseSliceSpec, sliceSpecToLines } from '@ledger-state/ledger'
 *
 * const spec = parseSliceSpec({ accounts: ['0xcafe'], types: ['0x1::fungible_asset::Supply'] })
 * console.log(sliceSpecToLines(spec)) // [ '0xcafe', '0x1::fungible_asset::Supply' ]
 * ```
 */
export function parseSliceSpec({ accounts = [], tables = [], types = [] }: SliceTexts): SliceSpec {
  if (accounts.length + tables.length + types.length === 0) throw sliceOfNothing()
  return {
    accounts: unique(accounts.map(parseAddress), addressToLongHex),
    tables: unique(tables.map(parseAddress), addressToLongHex),
    types: unique(types.map(parseTypePattern), typePatternToText),
  }
}

/**
 * Reads the texts of a file: on each line an address, `table` and a handle, or a type; `#` begins a comment.
 * @throws `invalid_slice` with the number of the line
 */
export function readSliceFile(text: string): Record<keyof SliceTexts, string[]> {
  const texts: Record<keyof SliceTexts, string[]> = { accounts: [], tables: [], types: [] }
  for (const [at, line] of text.split('\n').entries()) {
    const words = line.replace(/#.*/, '').trim()
    if (words === '') continue
    const table = /^table\s+(\S+)$/.exec(words)?.[1]
    try {
      if (table !== undefined) {
        parseAddress(table)
        texts.tables.push(table)
      } else if (words.includes('::')) {
        parseTypePattern(words)
        texts.types.push(words)
      } else {
        parseAddress(words)
        texts.accounts.push(words)
      }
    } catch (error) {
      throw invalidSliceLine(at + 1, error)
    }
  }
  return texts
}

/** The lines of a file that `readSliceFile` reads back. */
export function sliceSpecToLines({ accounts, tables, types }: SliceSpec): string[] {
  return [
    ...accounts.map(addressToShortHex),
    ...tables.map((handle) => `table ${addressToShortHex(handle)}`),
    ...types.map(typePatternToText),
  ]
}

/** 32 bytes that are equal for equal specifications. */
export function sliceDigest(spec: SliceSpec): Uint8Array {
  return sha3Of(new TextEncoder().encode(sliceSpecToLines(spec).join('\n')))
}

function unique<T>(items: readonly T[], toText: (item: T) => string): T[] {
  const byText = new Map(items.map((item) => [toText(item), item]))
  return [...byText].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item)
}
