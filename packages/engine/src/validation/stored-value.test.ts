import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_ANNOTATION_LENGTH, storedToValue, storedValueEnd, valueToStored } from './stored-value.js'

const value = fc.uint8Array({ maxLength: 40 })
const annotation = fc.uint8Array({ minLength: 1, maxLength: MAX_ANNOTATION_LENGTH })

describe('the stored form of a value', () => {
  it('gives back any value and any annotation', () => {
    fc.assert(
      fc.property(value, fc.option(annotation, { nil: undefined }), (bytes, note) => {
        const stored = valueToStored(bytes, note)
        const found = storedToValue(stored)
        expect([...found.value]).toEqual([...bytes])
        expect(found.annotation && [...found.annotation]).toEqual(note && [...note])
        expect(storedValueEnd(stored, 0, stored.length)).toBe(bytes.length)
      }),
    )
  })

  it('is the value itself where it cannot be mistaken for one with an annotation', () => {
    const bytes = Uint8Array.of(1, 2, 0xdf)
    expect(valueToStored(bytes)).toBe(bytes)
    expect([...valueToStored(Uint8Array.of(0xe0))]).toEqual([0xe0, 0xe0])
    expect([...valueToStored(new Uint8Array(0))]).toEqual([])
  })
})
