import { OpaqueStruct } from '../values/opaque-struct.js'
import type { Value } from '../values/value.js'
import { isJump, type Native } from './native.js'

/** The native, with opaque structs as the results at these indexes. */
export function withOpaqueResults(native: Native, indexes: readonly number[]): Native {
  return (context, args) => {
    const results = native(context, args)
    if (isJump(results)) return results
    return results.map((result, at) => (indexes.includes(at) ? (new OpaqueStruct() as unknown as Value) : result))
  }
}
