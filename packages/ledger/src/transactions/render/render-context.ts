import { bytesToHex, isLedgerStateError, type Steps } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import type { LedgerHasher } from '@ledger-state/proof'
import type { TypeTag } from '@ledger-state/type-tag'
import type { ModuleCache } from '../../caches/module-cache.js'
import type { ModuleInterfaces } from '../../caches/module-interfaces.js'
import { isTypeFault } from '../../types/type-faults.js'
import type { TypeResolver } from '../../types/type-resolver.js'

/** Dependencies of the JSON of a transaction. */
export interface RenderContext {
  /** State of the version of the transaction, whose modules decode its values. */
  readonly view: StateView
  readonly types: TypeResolver
  readonly interfaces: ModuleInterfaces
  readonly modules: ModuleCache
  /** Hasher of the ledger, for the hashes of state keys. */
  readonly hasher: LedgerHasher
}

/** Dependencies of the JSON of values. */
export type ValueContext = Pick<RenderContext, 'view' | 'types'>

/** The JSON of a value. Undefined if its type cannot be resolved at the version, or the bytes do not fit it. */
export function valueToJson({ types, view }: ValueContext, tag: TypeTag, bytes: Uint8Array): string | undefined {
  return orUndefined(() => types.resolve(tag, view).bytesToJson(bytes))
}

/** The same, in steps if the value is long. */
export function valueToJsonInSteps(context: ValueContext, tag: TypeTag, bytes: Uint8Array): Steps<string | undefined> {
  return orUndefinedInSteps(typedToJson(context, tag, bytes))
}

function* typedToJson({ types, view }: ValueContext, tag: TypeTag, bytes: Uint8Array): Steps<string> {
  return yield* types.resolve(tag, view).bytesToJsonInSteps(bytes)
}

/** The result of some work. Undefined if a type, a module or a value cannot be read. */
export function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    return undefinedIfUnreadable(error)
  }
}

/** As `orUndefined`, in steps. */
export function* orUndefinedInSteps<T>(steps: Steps<T>): Steps<T | undefined> {
  try {
    return yield* steps
  } catch (error) {
    return undefinedIfUnreadable(error)
  }
}

function undefinedIfUnreadable(error: unknown): undefined {
  if (isTypeFault(error) || isLedgerStateError(error, 'invalid_module')) return undefined
  throw error
}

/** Bytes as a text in JSON. */
export function hexText(bytes: Uint8Array): string {
  return `"${bytesToHex(bytes)}"`
}

/** Items of a list that are joined in one step. */
const JOINED_AT_ONCE = 64

/** Same as `jsonList`, in steps: a text that was made of parts takes its time when it is first read. */
export function* jsonListInSteps(items: readonly string[]): Steps<string> {
  const parts: string[] = []
  for (let at = 0; at < items.length; at += JOINED_AT_ONCE) {
    if (at > 0) yield
    parts.push(items.slice(at, at + JOINED_AT_ONCE).join(','))
  }
  return jsonList(parts)
}

/** A list in JSON, of items that are JSON already. */
export function jsonList(items: Iterable<string>): string {
  return `[${Array.from(items).join(',')}]`
}
