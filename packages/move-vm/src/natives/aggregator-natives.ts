import { hexToBytes } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { bytesToNumberLE, numberToBytesBE } from '@noble/curves/utils.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { PartedMap } from '../parted-map.js'
import { StructValue, type Value } from '../values/value.js'
import { addressOf, integerOf, structAt, structOf, toInteger } from './arguments.js'
import { hashBytes } from './hash-natives.js'
import type { Native, NativeContext, NativeExtension } from './native.js'
import { SESSION_HASH } from './session.js'

// Aggregators of the first kind: a struct with a handle, a key and a limit. Its value is an item of a table, a u128,
// that the natives of tables cannot see. Amounts that a run adds are kept separately from the value, with their maximum
// and minimum, so that a read can detect whether a limit was exceeded on the way.

interface Change {
  /** Whether this run made it, so that no value is stored. */
  isNew: boolean
  sum: bigint
  highest: bigint
  lowest: bigint
}

const UNCHANGED: Readonly<Change> = { isNew: false, sum: 0n, highest: 0n, lowest: 0n }
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

/** Adds an amount, which may be below 0. The change by itself must stay within the limit, whatever is stored. */
function addTo(context: NativeContext, value: Value | undefined, amount: bigint): readonly Value[] {
  context.charge(PRICE)
  const aggregator = aggregatorOf(structAt(value))
  const change = knownChangeOf(context, aggregator) ?? keepChange(context, aggregator, { ...UNCHANGED })
  const sum = change.sum + amount
  if (sum > aggregator.limit) context.abort(OVERFLOW)
  if (sum < (change.isNew ? 0n : -aggregator.limit)) context.abort(UNDERFLOW)
  change.sum = sum
  if (sum > change.highest) change.highest = sum
  if (sum < change.lowest) change.lowest = sum
  return []
}

export const AGGREGATOR_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::aggregator_factory::new_aggregator': (context, [factory, limit]) => {
    const table = structOf(structAt(factory).fields[0])
    const handle = addressOf(table.fields[0])
    const created = context.extension(CREATED)
    const input = concatBytes(SESSION_HASH, numberToBytesBE(created.count, COUNTER_BYTES))
    const key = bytesToHexDigits(hashBytes(context, 'sha3_256', input))
    keepChange(context, { handle, key }, { ...UNCHANGED, isNew: true })
    created.count++
    return [new StructValue(0, [handle, key, limit!])]
  },
  '0x1::aggregator::add': (context, [aggregator, amount]) => addTo(context, aggregator, integerOf(amount)),
  '0x1::aggregator::sub': (context, [aggregator, amount]) => addTo(context, aggregator, -integerOf(amount)),
  '0x1::aggregator::read': (context, [reference]) => {
    context.charge(PRICE)
    const aggregator = aggregatorOf(structAt(reference))
    const change = knownChangeOf(context, aggregator) ?? UNCHANGED
    if (change.isNew) return [toInteger(change.sum)]
    const bytes = context.globals.readItemBytes(aggregator.handle, hexToBytes(aggregator.key))
    if (bytes === undefined || bytes.length !== VALUE_BYTES) {
      return context.fault(EXTENSION_ERROR, 'could not find the value of the aggregator')
    }
    const stored = bytesToNumberLE(bytes)
    if (stored + change.highest > aggregator.limit) context.abort(OVERFLOW)
    if (stored + change.lowest < 0n) context.abort(UNDERFLOW)
    return [toInteger(stored + change.sum)]
  },
  '0x1::aggregator::destroy': (context, [aggregator]) => {
    const { handle, key } = aggregatorOf(structOf(aggregator))
    context.charge(PRICE)
    context.extension(CHANGES).delete(`${handle} ${key}`)
    return []
  },
}
