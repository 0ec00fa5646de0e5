import { U64_MAX } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { annotationToNote, noteToAnnotation } from './annotation.js'

const u64 = fc.oneof(
  fc.bigInt({ min: 0n, max: U64_MAX }),
  fc.bigInt({ min: 0n, max: 100_000n }),
  fc.constantFrom(2n ** 48n - 1n, 2n ** 48n, 2n ** 53n - 1n, 2n ** 53n),
)
const metadata = fc.record({
  slotDeposit: fc.oneof(u64, fc.constantFrom(0n, 40_000n, 50_000n)),
  bytesDeposit: fc.option(u64, { nil: undefined }),
  creationTimeUsec: fc.oneof(u64, fc.constantFrom(0n, 1_660_000_000_000_000n, 1_659_999_999_999_999n)),
})
const note = fc.record({ metadata: fc.option(metadata, { nil: undefined }), isCreation: fc.boolean() })

describe('the annotation of a value', () => {
  it('returns for any write the annotation that it was given', () => {
    fc.assert(
      fc.property(note, (given) => {
        const annotation = noteToAnnotation(given)
        expect(annotationToNote(annotation)).toEqual(given)
        expect(annotation?.length ?? 1).toBeLessThanOrEqual(29)
      }),
    )
  })

  it('takes nothing without metadata, and 7 to 9 bytes as networks have it', () => {
    expect(noteToAnnotation({ metadata: undefined, isCreation: false })).toBeUndefined()
    const creationTimeUsec = 1_790_000_000_123_456n
    const first = { slotDeposit: 50_000n, bytesDeposit: undefined, creationTimeUsec }
    expect(noteToAnnotation({ metadata: first, isCreation: true })).toHaveLength(7)
    const second = { slotDeposit: 40_000n, bytesDeposit: 40n * 120n, creationTimeUsec }
    expect(noteToAnnotation({ metadata: second, isCreation: false })).toHaveLength(9)
  })

  it('refuses bytes that nobody wrote', () => {
    for (const bytes of [[], [0], [0x80], [4, ...new Array(9).fill(1)], new Array(29).fill(0xff)]) {
      expect(() => annotationToNote(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
    }
  })
})
