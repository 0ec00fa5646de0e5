import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { Reference, Value } from '../values/value.js'
import { addressOf, structAt } from './arguments.js'
import { hashBytes } from './hash-natives.js'
import type { Native, NativeContext, NativeExtension } from './native.js'
import { SESSION_HASH } from './session.js'

/** Number of tables that the run has made. */
const NEW_TABLES: NativeExtension<{ count: number }> = { name: 'table', create: () => ({ count: 0 }) }

const ALREADY_THERE = 0x6407
const NOT_THERE = 0x6507
const EXTENSION_ERROR = 4026
const ITEM_PRICE = 20

/** The BCS of a key. Each native of an item begins with it, and charges its work. */
function keyOf(context: NativeContext, key: Value | undefined): Uint8Array {
  context.charge(ITEM_PRICE)
  return (
    context.serialize(context.typeArguments[0]!, key!) ?? context.fault(EXTENSION_ERROR, 'cannot serialize table key')
  )
}

/** The handle that a `&Table` holds. */
function handleOf(table: Value | undefined): string {
  return addressOf(structAt(table).fields[0])
}

function borrowBox(context: NativeContext, table: Value | undefined, key: Value | undefined): Reference | undefined {
  const bytes = keyOf(context, key)
  return context.globals.borrowItem(handleOf(table), bytes, context.typeArguments[2]!)
}

const borrow: Native = (context, [table, key]) => [borrowBox(context, table, key) ?? context.abort(NOT_THERE)]

const nothing: Native = () => []

/** The natives of tables. The third type argument of each is `Box<V>`, a struct with the value as its only field. */
export const TABLE_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::table::new_table_handle': (context) => {
    const tables = context.extension(NEW_TABLES)
    const input = new Uint8Array(SESSION_HASH.length + 4)
    input.set(SESSION_HASH)
    new DataView(input.buffer).setUint32(SESSION_HASH.length, tables.count)
    const handle = bytesToHexDigits(hashBytes(context, 'sha3_256', input))
    tables.count++
    return [handle]
  },
  '0x1::table::add_box': (context, [table, key, box]) => {
    const bytes = keyOf(context, key)
    if (!context.globals.addItem(handleOf(table), bytes, context.typeArguments[2]!, box!)) context.abort(ALREADY_THERE)
    return []
  },
  '0x1::table::borrow_box': borrow,
  '0x1::table::borrow_box_mut': borrow,
  '0x1::table::contains_box': (context, [table, key]) => [borrowBox(context, table, key) !== undefined],
  '0x1::table::remove_box': (context, [table, key]) => {
    const bytes = keyOf(context, key)
    return [context.globals.removeItem(handleOf(table), bytes, context.typeArguments[2]!) ?? context.abort(NOT_THERE)]
  },
  '0x1::table::destroy_empty_box': nothing,
  '0x1::table::drop_unchecked_box': nothing,
}
