import { typeTagToText } from '@ledger-state/type-tag'
import { StructValue } from '../values/value.js'
import { toMoveString, toUtf8, toVector } from './arguments.js'
import type { Native } from './native.js'

const NO_STRUCT = 1
const TYPE_PRICE = 50

export const TYPE_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::type_info::type_of': (context) => {
    const [type] = context.typeArguments
    if (type?.kind !== 'struct') return context.abort(NO_STRUCT)
    const text = typeTagToText(context.typeTag(type))
    context.charge(TYPE_PRICE)
    context.chargeBytes(text.length)
    // The name with its type arguments, after the address and the module.
    const name = text.slice(text.indexOf('::', text.indexOf('::') + 2) + 2)
    return [new StructValue(0, [type.address, toVector(toUtf8(type.module)), toVector(toUtf8(name))])]
  },
  '0x1::type_info::type_name': (context) => {
    const text = typeTagToText(context.typeTag(context.typeArguments[0]!))
    context.charge(TYPE_PRICE)
    context.chargeBytes(text.length)
    return [toMoveString(text)]
  },
  '0x1::type_info::chain_id_internal': ({ chainId }) => [chainId],
}
