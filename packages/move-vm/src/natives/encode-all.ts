import { inSteps } from '../sliced-work.js'
import type { NativeContext } from './native.js'

/** Values that a slice encodes: a point takes about 40 µs, a scalar 1 µs. */
export const ENCODED_AT_ONCE = { points: 4, scalars: 64 } as const

/** Encodes values for a task, many in slices. A native that runs again does not encode them again. */
export function encodeAll<T>(
  context: NativeContext,
  values: readonly T[],
  atOnce: number,
  encode: (value: T) => Uint8Array,
): readonly Uint8Array[] {
  return context.inSlices(() => inSteps(encodeInSteps(values, atOnce, encode)))
}

function* encodeInSteps<T>(
  values: readonly T[],
  atOnce: number,
  encode: (value: T) => Uint8Array,
): Generator<void, readonly Uint8Array[], void> {
  const encoded: Uint8Array[] = []
  for (const value of values) {
    if (encoded.length > 0 && encoded.length % atOnce === 0) yield
    encoded.push(encode(value))
  }
  return encoded
}
