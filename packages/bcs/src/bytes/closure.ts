import { ADDRESS_LENGTH, addressToShortHex, type ByteReader } from '@ledger-state/core'
import { readName, readTypeTag, type TypeTag } from '@ledger-state/type-tag'
import { typeTooLarge } from '../errors.js'
import { type Layout, type LayoutField, MAX_LAYOUT_DEPTH } from '../layout/layout.js'
import { readElementCount } from './read-value.js'

// Function values as they are stored; see docs/ledger-formats.md, section "Function values".

const FORMAT = 1
const FIXED_PARTS = 5

export interface ClosureHead {
  /** Name of the function: `0xa::module::function`. */
  readonly functionName: string
  readonly typeArguments: readonly TypeTag[]
  /** Mask of captured arguments: bit n is set if the function value holds the n-th argument. */
  readonly mask: bigint
  readonly capturedCount: number
}

/** Reads the head of a function value. The captured values follow, each after its layout (`readCapturedLayout`). */
export function readClosureHead(reader: ByteReader): ClosureHead {
  const start = reader.offset
  const parts = reader.readLength()
  const format = reader.readU16()
  if (format !== FORMAT)
    throw reader.fault(`a function value of format ${format}, only format ${FORMAT} is known`, start)
  const address = addressToShortHex(reader.readBytes(ADDRESS_LENGTH))
  const functionName = `${address}::${readName(reader)}::${readName(reader)}`
  const count = readElementCount(reader, 1)
  const typeArguments: TypeTag[] = []
  for (let at = 0; at < count; at++) typeArguments.push(readTypeTag(reader))
  const mask = reader.readU64()
  const capturedCount = bitCount(mask)
  if (parts !== FIXED_PARTS + 2 * capturedCount) {
    throw reader.fault(`a function value of ${parts} parts that captures ${capturedCount} values`, start)
  }
  return { functionName, typeArguments, mask, capturedCount }
}

/**
 * Most parts of the layouts that all function values in one value may bring. Compiling a layout costs a hundred times
 * as much as reading its bytes: without a limit a value of 1 MB took seconds.
 */
const MAX_CAPTURED_NODES = 16_384

/** Counts the parts of captured layouts in one value. */
export class CapturedBudget {
  #left = MAX_CAPTURED_NODES

  /** Resets the count for the next value. */
  reset(): void {
    this.#left = MAX_CAPTURED_NODES
  }

  /** Counts one part. @throws `type_too_large` */
  spend(): void {
    if (--this.#left < 0) throw typeTooLarge.tooMuchCaptured(MAX_CAPTURED_NODES)
  }
}

/** Kinds of layouts by their tag. In these layouts fields have no names: they are called `_0`, `_1` and so on. */
const LAYOUT_KINDS = [
  'bool',
  'u8',
  'u64',
  'u128',
  'address',
  'vector',
  'struct',
  'signer',
  'u16',
  'u32',
  'u256',
  'wrapper',
  'function',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
] as const
/** One layout for each kind without parts, so that decoders compile it once. */
const PLAIN_LAYOUTS: ReadonlyMap<string, Layout> = new Map(LAYOUT_KINDS.map((kind) => [kind, { kind } as Layout]))
const PLAIN_STRUCT = 0
const VARIANTS = 1

/** Reads the layout before a captured value. `depth` is the number of layouts around it. */
export function readCapturedLayout(reader: ByteReader, budget: CapturedBudget, depth: number): Layout {
  const start = reader.offset
  budget.spend()
  if (depth > MAX_LAYOUT_DEPTH) throw reader.fault(`layouts are nested more than ${MAX_LAYOUT_DEPTH} levels deep`)
  const kind = LAYOUT_KINDS[reader.readUleb128()]
  switch (kind) {
    case undefined:
      throw reader.fault('unknown layout', start)
    case 'vector':
      return { kind, element: readCapturedLayout(reader, budget, depth + 1) }
    case 'wrapper':
      // Marks the value of an aggregator, which is stored like any other value.
      reader.readUleb128()
      return readCapturedLayout(reader, budget, depth + 1)
    case 'struct': {
      const form = reader.readUleb128()
      if (form === PLAIN_STRUCT) return { kind, name: 'captured', fields: readFields(reader, budget, depth) }
      if (form !== VARIANTS) throw reader.fault('unknown form of a struct layout', start)
      const count = readElementCount(reader, 1)
      const variants: { name: string; fields: LayoutField[] }[] = []
      for (let at = 0; at < count; at++) variants.push({ name: String(at), fields: readFields(reader, budget, depth) })
      return { kind: 'enum', name: 'captured', variants }
    }
    default:
      return PLAIN_LAYOUTS.get(kind)!
  }
}

function readFields(reader: ByteReader, budget: CapturedBudget, depth: number): LayoutField[] {
  const count = readElementCount(reader, 1)
  const fields: LayoutField[] = []
  for (let at = 0; at < count; at++)
    fields.push({ name: `_${at}`, layout: readCapturedLayout(reader, budget, depth + 1) })
  return fields
}

function bitCount(mask: bigint): number {
  let count = 0
  for (let rest = mask; rest > 0n; rest &= rest - 1n) count++
  return count
}
