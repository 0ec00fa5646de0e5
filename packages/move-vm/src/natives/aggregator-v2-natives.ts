import { copyBytes } from '@ledger-state/core/bytes'
import { concatBytes } from '@noble/hashes/utils.js'
import type { Type } from '../types/type.js'
import { StructValue, type Value } from '../values/value.js'
import { integerOf, structAt, textBytesOf, toInteger, toMoveString, toVector } from './arguments.js'
import type { Native, NativeContext } from './native.js'

// Aggregators of the second kind, at rest: `Aggregator` holds its value and its limit, `AggregatorSnapshot` its value,
// which is a text in old tokens. `DerivedStringSnapshot` holds a text and padding, so that its size in bytes does not
// depend on the number in the text.

const UNSUPPORTED_SNAPSHOT = 0x3_0005
const UNSUPPORTED_AGGREGATOR = 0x3_0007
const TEXT_TOO_LONG = 0x3_0008
const NOT_IMPLEMENTED = 0x3_0009
const INVARIANT_VIOLATION = 2000

const MOST_TEXT_BYTES = 1024
/** Fewest bytes that a text and its padding take. */
const LEAST_WIDTH = 22
const PRICE = 10
const FRAMEWORK = '1'.padStart(64, '0')

/** The types that aggregators can have: the largest number of each, and how many digits that has. */
const INTEGERS = {
  u64: { max: 2n ** 64n - 1n, digits: 20 },
  u128: { max: 2n ** 128n - 1n, digits: 39 },
} as const

/** The element type of an aggregator. Aborts with `code` if the type is not one of `INTEGERS`. */
function elementOf(context: NativeContext, code: number): (typeof INTEGERS)[keyof typeof INTEGERS] {
  context.charge(PRICE)
  const kind = context.typeArguments[0]?.kind
  return kind === 'u64' || kind === 'u128' ? INTEGERS[kind] : context.abort(code)
}

interface Aggregator {
  readonly fields: Value[]
  readonly value: bigint
  readonly limit: bigint
}

function aggregatorAt(context: NativeContext, reference: Value | undefined): Aggregator {
  elementOf(context, UNSUPPORTED_AGGREGATOR)
  const { fields } = structAt(reference)
  const value = integerOf(fields[0])
  const limit = integerOf(fields[1])
  if (value > limit) context.fault(INVARIANT_VIOLATION, 'an aggregator is above its maximum')
  return { fields, value, limit }
}

function isString(type: Type | undefined): boolean {
  return type?.kind === 'struct' && type.address === FRAMEWORK && type.module === 'string' && type.name === 'String'
}

/** A copy of a text that a snapshot holds. */
function copyText(context: NativeContext, text: Value | undefined): StructValue {
  const bytes = textBytesOf(text)
  context.charge(PRICE)
  context.chargeBytes(bytes.length)
  return toMoveString(copyBytes(bytes))
}

/** Bytes that a `vector<u8>` of `bytes` bytes takes in BCS. */
function encodedLength(bytes: number): number {
  let length = bytes + 1
  for (let rest = bytes >> 7; rest > 0; rest >>= 7) length++
  return length
}

/** A text, padded so that text and padding together take `width` bytes. */
function toDerivedString(context: NativeContext, text: Uint8Array, width: number): StructValue {
  context.chargeBytes(width)
  const padding = new Uint8Array(width - encodedLength(text.length) - 1)
  return new StructValue(0, [toMoveString(text), toVector(padding)])
}

/** Makes a native that adds if the sum is between 0 and the limit, and returns whether it is. */
const change =
  (sign: 1n | -1n): Native =>
  (context, [reference, amount]) => {
    const { fields, value, limit } = aggregatorAt(context, reference)
    const sum = value + sign * integerOf(amount)
    if (sum < 0n || sum > limit) return [false]
    fields[0] = toInteger(sum)
    return [true]
  }

const notImplemented: Native = (context) => context.abort(NOT_IMPLEMENTED)

export const AGGREGATOR_V2_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::aggregator_v2::create_aggregator': (context, [limit]) => {
    elementOf(context, UNSUPPORTED_AGGREGATOR)
    return [new StructValue(0, [0, toInteger(integerOf(limit))])]
  },
  '0x1::aggregator_v2::create_unbounded_aggregator': (context) => [
    new StructValue(0, [0, toInteger(elementOf(context, UNSUPPORTED_AGGREGATOR).max)]),
  ],
  '0x1::aggregator_v2::read': (context, [aggregator]) => [toInteger(aggregatorAt(context, aggregator).value)],
  '0x1::aggregator_v2::try_add': change(1n),
  '0x1::aggregator_v2::try_sub': change(-1n),
  '0x1::aggregator_v2::is_at_least_impl': (context, [aggregator, amount]) => [
    aggregatorAt(context, aggregator).value >= integerOf(amount),
  ],
  '0x1::aggregator_v2::snapshot': (context, [aggregator]) => {
    elementOf(context, UNSUPPORTED_SNAPSHOT)
    return [new StructValue(0, [toInteger(aggregatorAt(context, aggregator).value)])]
  },
  '0x1::aggregator_v2::create_snapshot': (context, [value]) => {
    elementOf(context, UNSUPPORTED_SNAPSHOT)
    return [new StructValue(0, [toInteger(integerOf(value))])]
  },
  '0x1::aggregator_v2::read_snapshot': (context, [snapshot]) => {
    // Old tokens hold their names as snapshots of texts, which the natives of today refuse to read.
    if (isString(context.typeArguments[0])) return [copyText(context, structAt(snapshot).fields[0])]
    elementOf(context, UNSUPPORTED_SNAPSHOT)
    return [toInteger(integerOf(structAt(snapshot).fields[0]))]
  },
  '0x1::aggregator_v2::read_derived_string': (context, [snapshot]) => [copyText(context, structAt(snapshot).fields[0])],
  '0x1::aggregator_v2::create_derived_string': (context, [text]) => {
    const bytes = textBytesOf(text)
    context.charge(PRICE)
    if (bytes.length > MOST_TEXT_BYTES) context.abort(TEXT_TOO_LONG)
    return [toDerivedString(context, copyBytes(bytes), Math.max(encodedLength(bytes.length) + 1, LEAST_WIDTH))]
  },
  '0x1::aggregator_v2::derive_string_concat': (context, [beforeText, snapshot, afterText]) => {
    const { digits } = elementOf(context, UNSUPPORTED_SNAPSHOT)
    const before = textBytesOf(beforeText)
    const after = textBytesOf(afterText)
    if (before.length + after.length > MOST_TEXT_BYTES) context.abort(TEXT_TOO_LONG)
    const number = new TextEncoder().encode(String(integerOf(structAt(snapshot).fields[0])))
    const width = encodedLength(before.length + after.length + digits) + 1
    return [toDerivedString(context, concatBytes(before, number, after), width)]
  },
  '0x1::aggregator_v2::copy_snapshot': notImplemented,
  '0x1::aggregator_v2::string_concat': notImplemented,
}
