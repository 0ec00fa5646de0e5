import type { OpenType } from '../load/open-type.js'
import type { Type } from '../types/type.js'
import { ClosureValue, StructValue, type Value } from '../values/value.js'
import { addressOf, structAt, textBytesOf } from './arguments.js'
import { readIdentifier } from './dispatch-natives.js'
import type { FunctionName, Native, NativeContext } from './native.js'

const FLAG = 105
const UNAVAILABLE = 0xd_0000
const PRICE = 50

/** Variants of `0x1::result::Result`. */
const RESULT = { ok: 0, error: 1 } as const
/** Variants of `0x1::reflect::ReflectionError`. */
const ERROR = { invalidIdentifier: 0, notFound: 1, notAccessible: 2, incompatibleType: 3, notInstantiated: 4 } as const

const FRAMEWORK = '1'.padStart(64, '0')

/** Whether a native checks who calls it, which a closure would hide. */
function isHidden({ address, module, name }: FunctionName): boolean {
  return address === FRAMEWORK && module === 'event' && name === 'emit'
}

/** Whether a type fits a declared one. The first type that meets a type parameter is bound to it. */
function matches(declared: OpenType, type: Type, bound: (Type | undefined)[]): boolean {
  switch (declared.kind) {
    case 'typeParameter':
      bound[declared.index] ??= type
      return bound[declared.index] === type
    case 'vector':
      return type.kind === 'vector' && matches(declared.element, type.element, bound)
    case 'reference':
      return type.kind === 'reference' && type.mutable === declared.mutable && matches(declared.to, type.to, bound)
    case 'struct':
      return (
        type.kind === 'struct' &&
        type.name === declared.struct.name &&
        type.module === declared.struct.module.name &&
        type.address === declared.struct.module.address &&
        matchesAll(declared.typeArguments, type.typeArguments, bound)
      )
    case 'function':
      return (
        type.kind === 'function' &&
        type.abilities === declared.abilities &&
        matchesAll(declared.parameters, type.parameters, bound) &&
        matchesAll(declared.results, type.results, bound)
      )
    default:
      return type.kind === declared.kind
  }
}

function matchesAll(declared: readonly OpenType[], types: readonly Type[], bound: (Type | undefined)[]): boolean {
  return declared.length === types.length && declared.every((one, index) => matches(one, types[index]!, bound))
}

function hasAbilities(context: NativeContext, type: Type, asked: number): boolean {
  return asked === 0 || (asked & ~context.abilities(type)) === 0
}

function resolve(context: NativeContext, target: FunctionName, type: Type): Value {
  const error = (variant: number) => new StructValue(RESULT.error, [new StructValue(variant, [])])
  const found = context.findFunction(target)
  if (found === undefined) return error(ERROR.notFound)
  if (!found.isPublic || isHidden(target)) return error(ERROR.notAccessible)
  if (type.kind !== 'function') return error(ERROR.incompatibleType)
  const { parameters, results, typeParameterAbilities } = found
  const bound: (Type | undefined)[] = typeParameterAbilities.map(() => undefined)
  context.charge(type.size)
  if (!matchesAll(parameters, type.parameters, bound) || !matchesAll(results, type.results, bound)) {
    return error(ERROR.incompatibleType)
  }
  const typeArguments: Type[] = []
  for (const one of bound) {
    if (one === undefined) return error(ERROR.notInstantiated)
    typeArguments.push(one)
  }
  if (!typeArguments.every((one, at) => hasAbilities(context, one, typeParameterAbilities[at]!))) {
    return error(ERROR.incompatibleType)
  }
  return new StructValue(RESULT.ok, [new ClosureValue({ ...target, typeArguments }, 0n, [], [])])
}

export const REFLECT_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::reflect::native_resolve': (context, [address, moduleText, nameText]) => {
    if (!context.isFeatureOn(FLAG)) context.abort(UNAVAILABLE)
    context.charge(PRICE)
    const [type] = context.typeArguments
    const [module, name] = [moduleText, nameText].map((text) => readIdentifier(context, textBytesOf(structAt(text))))
    if (module === undefined || name === undefined) {
      return [new StructValue(RESULT.error, [new StructValue(ERROR.invalidIdentifier, [])])]
    }
    return [resolve(context, { address: addressOf(address), module, name }, type!)]
  },
}
