import { allocateBytes } from '@ledger-state/core/bytes'

// How engines store a value together with its annotation, in one byte string:
//   value                        without an annotation
//   value | 0xe0                 the same, if the value ends with 0xe0 or more
//   value | annotation | 0xe0 + length of the annotation, which is 1 to 31 bytes
// So most values without an annotation take no more space than their bytes. Those that end with 0xe0 or more, one in eight if
// last bytes are random, take one byte more.

/** Most bytes of an annotation. */
export const MAX_ANNOTATION_LENGTH = 31
const MARKS = 0xff - MAX_ANNOTATION_LENGTH
const NONE = new Uint8Array(0)

/** Number of bytes that follow a value in its stored form. */
export function storedTailLength(value: Uint8Array, annotation: Uint8Array = NONE): number {
  if (annotation.length > 0) return annotation.length + 1
  return value.length > 0 && value[value.length - 1]! >= MARKS ? 1 : 0
}

/** Writes the bytes that follow a value in its stored form, and returns the offset of their end. */
export function putStoredTail(
  target: Uint8Array,
  at: number,
  value: Uint8Array,
  annotation: Uint8Array = NONE,
): number {
  if (storedTailLength(value, annotation) === 0) return at
  target.set(annotation, at)
  target[at + annotation.length] = MARKS + annotation.length
  return at + annotation.length + 1
}

/** Encodes a value in its stored form: the value itself if nothing follows it, otherwise a copy. */
export function valueToStored(value: Uint8Array, annotation?: Uint8Array): Uint8Array {
  const tail = storedTailLength(value, annotation)
  if (tail === 0) return value
  const stored = allocateBytes(value.length + tail)
  stored.set(value)
  putStoredTail(stored, value.length, value, annotation)
  return stored
}

/** Offset of the end of the value in a stored form that ends at `end`. */
export function storedValueEnd(bytes: Uint8Array, start: number, end: number): number {
  const last = end > start ? bytes[end - 1]! : 0
  return last < MARKS ? end : Math.max(start, end - 1 - (last - MARKS))
}

/** A value with its annotation, if it has one. */
export interface AnnotatedValue<B extends Uint8Array = Uint8Array> {
  readonly value: B
  readonly annotation?: B
}

/** Decodes a stored form. Value and annotation are views of it. */
export function storedToValue<B extends Uint8Array>(stored: B): AnnotatedValue<B> {
  const end = storedValueEnd(stored, 0, stored.length)
  if (end >= stored.length - 1) return { value: end === stored.length ? stored : (stored.subarray(0, end) as B) }
  return { value: stored.subarray(0, end) as B, annotation: stored.subarray(end, stored.length - 1) as B }
}
