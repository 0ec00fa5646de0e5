import { decodeUtf8 } from '@ledger-state/core/bytes'
import type { Value } from '../values/value.js'
import { addressOf, bytesAt, structAt, textBytesOf } from './arguments.js'
import type { FunctionName, Native, NativeContext } from './native.js'

const INVALID_IDENTIFIER = 1
const NOT_COMPARABLE = 2
const NOT_VISITED = 4
const PRICE = 50

/** An identifier of the binary format: a single `_` or `$` is not an identifier; the name of a script's module is. */
const IDENTIFIER = /^(?:[A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+|<SELF>(?:_[0-9]+)?)$/

function isIdentifier(bytes: Uint8Array): boolean {
  const text = decodeUtf8(bytes)
  return text !== undefined && IDENTIFIER.test(text)
}

/** Reads an identifier of Move; undefined if the bytes are not an identifier. */
export function readIdentifier(context: NativeContext, bytes: Uint8Array): string | undefined {
  context.charge(bytes.length)
  return isIdentifier(bytes) ? decodeUtf8(bytes) : undefined
}

function identifierOf(context: NativeContext, bytes: Uint8Array): string {
  return readIdentifier(context, bytes) ?? context.abort(INVALID_IDENTIFIER)
}

/** The function that a `&FunctionInfo` names by an address and two Strings. */
function functionAt(context: NativeContext, info: Value | undefined): FunctionName {
  const { fields } = structAt(info)
  const module = identifierOf(context, textBytesOf(fields[1]))
  return { address: addressOf(fields[0]), module, name: identifierOf(context, textBytesOf(fields[2])) }
}

function areEqual<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index])
}

/** Calls the function that the last argument names, instead of the native. */
const dispatch: Native = (context, args) => {
  context.charge(PRICE)
  const target = functionAt(context, args.at(-1))
  if (!context.isModuleVisited(target.address, target.module)) context.abort(NOT_VISITED)
  return context.jump(target, args.slice(0, -1))
}

export const DISPATCH_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::function_info::is_identifier': (context, [reference]) => {
    const bytes = bytesAt(reference)
    context.charge(bytes.length)
    return [isIdentifier(bytes)]
  },
  '0x1::function_info::load_function_impl': (context, [info]) => {
    context.charge(PRICE)
    const { address, module } = functionAt(context, info)
    context.visitModule(address, module)
    return []
  },
  '0x1::function_info::check_dispatch_type_compatibility_impl': (context, [leftInfo, rightInfo]) => {
    context.charge(PRICE)
    const rightName = functionAt(context, rightInfo)
    const leftName = functionAt(context, leftInfo)
    if (!context.isModuleVisited(rightName.address, rightName.module)) context.abort(NOT_COMPARABLE)
    const right = context.findFunction(rightName)
    const left = context.findFunction(leftName)
    if (left === undefined || right === undefined || left.parameters.length === 0) {
      return context.abort(NOT_COMPARABLE)
    }
    const isOtherModule = leftName.address !== rightName.address || leftName.module !== rightName.module
    return [
      areEqual(left.typeParameterAbilities, right.typeParameterAbilities) &&
        context.areSame(left.results, right.results) &&
        context.areSame(left.parameters.slice(0, -1), right.parameters) &&
        right.isPublic &&
        !right.isNative &&
        isOtherModule,
    ]
  },
  '0x1::dispatchable_fungible_asset::dispatchable_derived_balance': dispatch,
  '0x1::dispatchable_fungible_asset::dispatchable_derived_supply': dispatch,
  '0x1::dispatchable_fungible_asset::dispatchable_deposit': dispatch,
  '0x1::dispatchable_fungible_asset::dispatchable_withdraw': dispatch,
  '0x1::account_abstraction::dispatchable_authenticate': dispatch,
}
