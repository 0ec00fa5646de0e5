import { hexToBytes } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { bytesToNumberLE, numberToBytesBE } from '@noble/curves/utils.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { PartedMap } from '../parted-map.js'
import { StructValue } from '../values/value.js'
import { addressOf, integerOf, structAt, structOf, toInteger } from './arguments.js'
import { hashBytes } from './hash-natives.js'
import type { Native, NativeContext, NativeExtension } from './native.js'
import { SESSION_HASH } from './session.js'

// Aggregators of the first kind: a struct with a handle, a key and a limit. Its value is an item of a table, a u128,
// that the natives of tables cannot see. Amounts that a run adds are kept separately from the value, with their maximum
// and minimum, so that the first read can detect whether a limit was exceeded on the way. After it, and if the run made
// the aggregator, the value is known, and each amount is checked against it.

interface Change {
  /** Whether the value is known: `sum` is the value then, and otherwise what was added to the stored value. */
  isValue: boolean
  sum: bigint
  highest: bigint
  lowest: bigint
}

const UNCHANGED: Readonly<Change> = { isValue: false, sum: 0n, highest: 0n, lowest: 0n }
const CHANGES: NativeExtension<PartedMap<string, Change>> = { name: 'aggregator', create: () => new PartedMap() }
const CREATED: NativeExtension<{ count: bigint }> = { name: 'aggregator_factory', create: () => ({ count: 0n }) }

const OVERFLOW = 0x2_0001
const UNDERFLOW = 0x2_0002
const EXTENSION_ERROR = 4026
const COUNTER_BYTES = 16
const VALUE_BYTES = 16
const PRICE = 20
/** Heap bytes of a change with its name. */
const CHANGE_BYTES = 400

interface Aggregator {
  readonly handle: string
  readonly key: string
  readonly limit: bigint
}

function aggregatorOf({ fields }: StructValue): Aggregator {
  return { handle: addressOf(fields[0]), key: addressOf(fields[1]), limit: integerOf(fields[2]) }
}

function knownChangeOf(context: NativeContext, { handle, key }: Aggregator): Change | undefined {
  return context.extension(CHANGES).get(`${handle} ${key}`)
}

function keepChange(context: NativeContext, { handle, key }: Omit<Aggregator, 'limit'>, change: Change): Change {
  context.chargeBytes(CHANGE_BYTES)
  context.extension(CHANGES).set(`${handle} ${key}`, change)
  return change
}

/** Whether an amount that is added exceeds the limit, as far as this is known before a read. */
function isAboveLimit({ sum }: Change, amount: bigint, limit: bigint): boolean {
  return sum >= 0n && sum + amount > limit
}

/** Whether the value is below 0 once an amount is subtracted, as far as this is known before a read. */
function isBelowZero({ isValue, sum }: Change, amount: bigint, limit: bigint): boolean {
  if (sum >= amount) return false
  return isValue || (sum >= 0n ? amount : amount - sum) > limit
}

const changeNative =
  (sign: bigint, isOutside: typeof isAboveLimit, code: number): Native =>
  (context, [reference, operand]) => {
    context.charge(PRICE)
    const amount = integerOf(operand)
    const aggregator = aggregatorOf(structAt(reference))
    const change = knownChangeOf(context, aggregator) ?? keepChange(context, aggregator, { ...UNCHANGED })
    if (isOutside(change, amount, aggregator.limit)) context.abort(code)
    change.sum += sign * amount
    if (change.sum > change.highest) change.highest = change.sum
    if (change.sum < change.lowest) change.lowest = change.sum
    return []
  }

export const AGGREGATOR_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::aggregator_factory::new_aggregator': (context, [factory, limit]) => {
    const table = structOf(structAt(factory).fields[0])
    const handle = addressOf(table.fields[0])
    const created = context.extension(CREATED)
    const input = concatBytes(SESSION_HASH, numberToBytesBE(created.count, COUNTER_BYTES))
    const key = bytesToHexDigits(hashBytes(context, 'sha3_256', input))
    keepChange(context, { handle, key }, { ...UNCHANGED, isValue: true })
    created.count++
    return [new StructValue(0, [handle, key, limit!])]
  },
  '0x1::aggregator::add': changeNative(1n, isAboveLimit, OVERFLOW),
  '0x1::aggregator::sub': changeNative(-1n, isBelowZero, UNDERFLOW),
  '0x1::aggregator::read': (context, [reference]) => {
    context.charge(PRICE)
    const aggregator = aggregatorOf(structAt(reference))
    const known = knownChangeOf(context, aggregator)
    const change = known ?? UNCHANGED
    if (change.isValue) return [toInteger(change.sum)]
    const bytes = context.globals.readItemBytes(aggregator.handle, hexToBytes(aggregator.key))
    if (bytes === undefined || bytes.length !== VALUE_BYTES) {
      return context.fault(EXTENSION_ERROR, 'could not find the value of the aggregator')
    }
    const stored = bytesToNumberLE(bytes)
    if (stored + change.highest > aggregator.limit) context.abort(OVERFLOW)
    if (stored + change.lowest < 0n) context.abort(UNDERFLOW)
    const value = known ?? keepChange(context, aggregator, { ...UNCHANGED })
    value.isValue = true
    value.sum += stored
    return [toInteger(value.sum)]
  },
  '0x1::aggregator::destroy': (context, [aggregator]) => {
    const { handle, key } = aggregatorOf(structOf(aggregator))
    context.charge(PRICE)
    context.extension(CHANGES).delete(`${handle} ${key}`)
    return []
  },
}
