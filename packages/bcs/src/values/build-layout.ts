import type { Layout, LayoutField } from '../layout/layout.js'
import type { MoveClosure, MoveValue } from './move-value.js'

/** Key of a member that only the compiler sees: no layout has it. */
declare const VALUE: unique symbol

/** A layout whose JavaScript values the compiler knows. */
export type TypedLayout<T> = Layout & { readonly [VALUE]?: T }

/** Type of the JavaScript values of a layout, as a codec of `@ledger-state/bcs/values` reads and writes them. */
export type InferValue<L> = L extends { readonly [VALUE]?: infer T } ? T : MoveValue

type Fields = Readonly<Record<string, Layout>>
type FieldValues<F extends Fields> = { readonly [Name in keyof F]: InferValue<F[Name]> }
type Variants = Readonly<Record<string, Fields>>
type VariantValue<V extends Variants> = {
  [Name in keyof V & string]: { readonly variant: Name; readonly fields: FieldValues<V[Name]> }
}[keyof V & string]

type U8Layout = { readonly kind: 'u8' } & TypedLayout<number>

const U8: U8Layout = { kind: 'u8' }
const BOOL: TypedLayout<boolean> = { kind: 'bool' }
const U16: TypedLayout<number> = { kind: 'u16' }
const U32: TypedLayout<number> = { kind: 'u32' }
const U64: TypedLayout<bigint> = { kind: 'u64' }
const U128: TypedLayout<bigint> = { kind: 'u128' }
const U256: TypedLayout<bigint> = { kind: 'u256' }
const I8: TypedLayout<number> = { kind: 'i8' }
const I16: TypedLayout<number> = { kind: 'i16' }
const I32: TypedLayout<number> = { kind: 'i32' }
const I64: TypedLayout<bigint> = { kind: 'i64' }
const I128: TypedLayout<bigint> = { kind: 'i128' }
const I256: TypedLayout<bigint> = { kind: 'i256' }
const ADDRESS: TypedLayout<string> = { kind: 'address' }
const OBJECT: TypedLayout<string> = { kind: 'object' }
const STRING: TypedLayout<string | Uint8Array> = { kind: 'string' }
const BYTES: TypedLayout<Uint8Array> = { kind: 'vector', element: U8 }
const FUNCTION: TypedLayout<MoveClosure> = { kind: 'function' }

/** A boolean. */
export const bool = () => BOOL
/** A number from 0 to 2^8 - 1. */
export const u8 = () => U8
/** A number from 0 to 2^16 - 1. */
export const u16 = () => U16
/** A number from 0 to 2^32 - 1. */
export const u32 = () => U32
/** A bigint from 0 to 2^64 - 1. */
export const u64 = () => U64
/** A bigint from 0 to 2^128 - 1. */
export const u128 = () => U128
/** A bigint from 0 to 2^256 - 1. */
export const u256 = () => U256
/** A number from -2^7 to 2^7 - 1. */
export const i8 = () => I8
/** A number from -2^15 to 2^15 - 1. */
export const i16 = () => I16
/** A number from -2^31 to 2^31 - 1. */
export const i32 = () => I32
/** A bigint from -2^63 to 2^63 - 1. */
export const i64 = () => I64
/** A bigint from -2^127 to 2^127 - 1. */
export const i128 = () => I128
/** A bigint from -2^255 to 2^255 - 1. */
export const i256 = () => I256
/** An account address: `0x` and hex. */
export const address = () => ADDRESS
/** The type `0x1::object::Object`, as its address. */
export const object = () => OBJECT
/** The type `0x1::string::String`: a string, or the bytes if they are not UTF-8. */
export const string = () => STRING
/** A `vector<u8>`, as a Uint8Array. */
export const bytes = () => BYTES
/** A function value. It is read, and cannot be written. */
export const functionValue = () => FUNCTION

/** A list; a Uint8Array if the element is `u8()`. */
export function vector(element: U8Layout): TypedLayout<Uint8Array>
export function vector<L extends Layout>(element: L): TypedLayout<readonly InferValue<L>[]>
export function vector(element: Layout): Layout {
  return { kind: 'vector', element }
}

/**
 * The type `0x1::option::Option`: an array of no or one element. `declaredAs` says how the framework of the ledger
 * declares it.
 */
export function option<L extends Layout>(
  element: L,
  declaredAs: 'struct' | 'enum' = 'enum',
): TypedLayout<readonly [] | readonly [InferValue<L>]> {
  return { kind: 'option', declaredAs, element }
}

/** A map of BCS itself: entries in ascending order of the bytes of their keys. */
export function map<K extends Layout, V extends Layout>(
  key: K,
  value: V,
): TypedLayout<readonly (readonly [key: InferValue<K>, value: InferValue<V>])[]> {
  return { kind: 'map', key, value }
}

/**
 * A struct with its fields in the order of the members. The name is for messages.
 * @example
 * ```ts
 * import { createValueCodec } from '@ledger-state/bcs/values'
 * import { address, type InferValue, struct, u64 } from '@ledger-state/bcs/layouts'
 *
 * const layout = struct({ owner: address(), amount: u64() })
 * const value: InferValue<typeof layout> = { owner: '0xa11ce', amount: 7n }
 * console.log(createValueCodec(layout).valueToBytes(value).length) // 40
 * ```
 */
export function struct<F extends Fields>(fields: F, name = 'struct'): TypedLayout<FieldValues<F>> {
  return { kind: 'struct', name, fields: toFields(fields) }
}

/** An enum with its variants in the order of the members. The name is for messages. */
export function enumeration<V extends Variants>(variants: V, name = 'enum'): TypedLayout<VariantValue<V>> {
  const list = Object.entries(variants).map(([variant, fields]) => ({ name: variant, fields: toFields(fields) }))
  return { kind: 'enum', name, variants: list }
}

function toFields(fields: Fields): LayoutField[] {
  return Object.entries(fields).map(([name, layout]) => ({ name, layout }))
}
