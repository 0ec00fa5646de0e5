import { addressOf, structAt } from './arguments.js'
import type { Native } from './native.js'

const FLAG = 113
const NOT_THERE = 2
const UNAVAILABLE = 0xd_0001
const PRICE = 10

/** The resource of the second type argument at the address that a slot holds. */
const borrowSlot: Native = (context, [slot]) => {
  if (!context.isFeatureOn(FLAG)) context.abort(UNAVAILABLE)
  context.charge(PRICE)
  const address = addressOf(structAt(slot).fields[0])
  return [context.globals.borrowResource(address, context.typeArguments[1]!) ?? context.abort(NOT_THERE)]
}

export const STORAGE_SLOT_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::storage_slot::borrow_storage_slot_resource': borrowSlot,
  '0x1::storage_slot::borrow_storage_slot_resource_mut': borrowSlot,
}
