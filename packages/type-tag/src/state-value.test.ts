import { ByteReader, U64_MAX } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeStateValue, readValueMetadata } from './state-value.js'

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

describe('a state value', () => {
  it('has its metadata behind the value, from which they are read again', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), metadata, (value, given) => {
        const reader = new ByteReader(encodeStateValue({ value, metadata: given }))
        expect(reader.readUleb128()).toBe(1)
        expect([...reader.readByteString()]).toEqual([...value])
        expect(readValueMetadata(reader)).toEqual(given)
        reader.expectEnd()
      }),
    )
    expect([...encodeStateValue({ value: Uint8Array.of(7), metadata: undefined })]).toEqual([0, 1, 7])
  })
})
