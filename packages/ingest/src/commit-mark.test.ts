import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeCommitMark, encodeCommitMark } from './commit-mark.js'
import { WRITES_HASH_LENGTH } from './writes-hash.js'

const optional = (bytes: fc.Arbitrary<Uint8Array>) => fc.option(bytes, { nil: undefined })
const hashes = fc
  .uint8Array({ minLength: WRITES_HASH_LENGTH, maxLength: WRITES_HASH_LENGTH })
  .filter((hash) => hash.some((byte) => byte !== 0))

it('a mark is read as it was written', () => {
  fc.assert(
    fc.property(optional(fc.uint8Array({ minLength: 1 })), optional(hashes), (source, writesHash) => {
      const read = decodeCommitMark(Uint8Array.from(encodeCommitMark({ source, writesHash })))
      expect(read.source && Uint8Array.from(read.source)).toEqual(source)
      expect(read.writesHash && Uint8Array.from(read.writesHash)).toEqual(writesHash)
    }),
  )
})

it.each([undefined, new Uint8Array(0), new Uint8Array(100), new TextEncoder().encode('LSMARK\0\x01')])(
  'a mark that no ingest made says nothing',
  (mark) => {
    expect(decodeCommitMark(mark)).toEqual({ source: undefined, writesHash: undefined })
  },
)
