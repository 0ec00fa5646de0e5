import { bytesToHex, parseAddress } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { type BcsType, bcs } from '@mysten/bcs'
import { invalidBcs, invalidValue, unsupportedType } from '../errors.js'
import type { Layout, LayoutField } from '../layout/layout.js'

// biome-ignore lint/suspicious/noExplicitAny: the value types of a BcsType built at run time are not known to the compiler
type AnyBcsType = BcsType<any, any>

/**
 * Makes the `@mysten/bcs` type of a layout, for programs that use that library, and as an oracle in tests. Its reader
 * trusts its input: use it on bytes that are known to be good.
 * @throws `unsupported_type` if `@mysten/bcs` has no such type: signers, function values, signed integers
 * @example
 * ```ts
 * import { layoutToBcsType } from '@ledger-state/bcs/mysten'
 *
 * const type = layoutToBcsType({ kind: 'vector', element: { kind: 'u16' } })
 * console.log(type.parse(Uint8Array.of(1, 7, 0))) // [ 7 ]
 * ```
 */
export function layoutToBcsType(layout: Layout): AnyBcsType {
  switch (layout.kind) {
    case 'bool':
      return bcs.bool()
    case 'u8':
      return bcs.u8()
    case 'u16':
      return bcs.u16()
    case 'u32':
      return bcs.u32()
    case 'u64':
      return bcs.u64()
    case 'u128':
      return bcs.u128()
    case 'u256':
      return bcs.u256()
    case 'address':
      return addressType()
    case 'string':
      return bcs.string()
    case 'vector':
      return bcs.vector(layoutToBcsType(layout.element))
    case 'option':
      return bcs.option(layoutToBcsType(layout.element))
    case 'map':
      return bcs.map(layoutToBcsType(layout.key), layoutToBcsType(layout.value))
    case 'object':
      return bcs.struct('Object', { inner: addressType() })
    case 'struct':
      return fieldsToBcsType(layout.name, layout.fields)
    case 'enum':
      return bcs.enum(
        layout.name,
        Object.fromEntries(
          layout.variants.map((variant) => [variant.name, fieldsToBcsType(variant.name, variant.fields)]),
        ),
      )
    default:
      throw unsupportedType(`@mysten/bcs has no type for ${layout.kind}`)
  }
}

/** Reads and writes the values of a `BcsType`. */
export interface BcsTypeCodec<T, Input> {
  /**
   * Decodes a value.
   * @throws `invalid_bcs` unless the type writes the value that it read to exactly these bytes
   */
  bytesToValue(bytes: Uint8Array): T
  /** Encodes a value. @throws `invalid_value` */
  valueToBytes(value: Input): Uint8Array
}

/**
 * Makes a `BcsType` safe to use on untrusted bytes of moderate size: It reads from a copy, so that it cannot reach
 * neighbouring memory. The type must write the value that it read to the same bytes again, so trailing bytes, maps out
 * of order, and everything else that is not canonical are refused. It is as slow as the type itself: use layouts for
 * large or hostile input.
 * @example
 * ```ts
 * import { bcsTypeToCodec } from '@ledger-state/bcs/mysten'
 * import { bcs } from '@mysten/bcs'
 *
 * const codec = bcsTypeToCodec(bcs.u16())
 * console.log(codec.bytesToValue(Uint8Array.of(7, 0))) // 7
 * ```
 */
export function bcsTypeToCodec<T, Input>(type: BcsType<T, Input>): BcsTypeCodec<T, Input> {
  return {
    bytesToValue(bytes) {
      const copy = Uint8Array.from(bytes)
      let value: T
      let again: Uint8Array
      try {
        value = type.parse(copy)
        again = type.serialize(value as unknown as Input).toBytes()
      } catch (cause) {
        throw invalidBcs.notOfBcsType(type.name, cause)
      }
      if (compareBytes(copy, again) !== 0) throw invalidBcs.notCanonical(type.name)
      return value
    },
    valueToBytes(value) {
      try {
        return type.serialize(value).toBytes()
      } catch (cause) {
        throw invalidValue.notForBcsType(type.name, cause)
      }
    },
  }
}

function fieldsToBcsType(name: string, fields: readonly LayoutField[]): AnyBcsType {
  return bcs.struct(name, Object.fromEntries(fields.map((field) => [field.name, layoutToBcsType(field.layout)])))
}

function addressType(): AnyBcsType {
  return bcs.bytes(32).transform({
    input: (text: string) => parseAddress(text),
    output: (bytes) => bytesToHex(bytes),
  })
}
