import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { annotationToNote } from '@ledger-state/records'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readWriteSet } from './write-set.js'

const address = Buffer.alloc(32, 7)
const read = (bytes: Uint8Array) => {
  const reader = new ByteReader(bytes)
  const writes = readWriteSet(reader)
  reader.expectEnd()
  return writes.map(([key, value, annotation]) => {
    const write = [Buffer.from(key).toString('hex'), value && Buffer.from(value).toString('hex')]
    return annotation ? [...write, annotationToNote(annotation)] : write
  })
}

const hex = address.toString('hex')
const NATIVE = Buffer.concat([Buffer.of(0), Buffer.alloc(96, 5)])

/** Writes one write for each kind of key and each operation. */
function everyKind(writer: ByteWriter): ByteWriter {
  writer.uleb128(6)
  writer.u8(0).bytes(address).byteString(Uint8Array.of(1, 2)).u8(0).byteString(Uint8Array.of(4))
  writer.u8(1).bytes(address).byteString(Uint8Array.of(1, 2)).u8(1).byteString(Uint8Array.of(3))
  writer.u8(2).byteString(Uint8Array.of(9)).u8(2)
  writer.u8(1).bytes(address).byteString(Uint8Array.of(1)).u8(3).byteString(Uint8Array.of(5)).u8(0).u64(1n).u64(2n)
  writer
    .u8(1)
    .bytes(address)
    .byteString(Uint8Array.of(2))
    .u8(4)
    .byteString(Uint8Array.of(6))
    .u8(1)
    .u64(1n)
    .u64(2n)
    .u64(3n)
  return writer.u8(3).bytes(NATIVE).u8(5).u8(0).u64(1n).u64(2n)
}

const CREATION = { isCreation: true, metadata: undefined }
const FIRST = { slotDeposit: 1n, bytesDeposit: undefined, creationTimeUsec: 2n }
const SECOND = { slotDeposit: 1n, bytesDeposit: 2n, creationTimeUsec: 3n }

const EXPECTED = [
  [`00${hex}020102`, '04', CREATION],
  [`01${hex}0102`, '03'],
  ['ff09', null],
  [`01${hex}01`, '05', { isCreation: true, metadata: FIRST }],
  [`01${hex}02`, '06', { isCreation: false, metadata: SECOND }],
  [`02${NATIVE.toString('hex')}`, null],
]

describe('readWriteSet', () => {
  it('turns keys into their database form and reads every kind of write', () => {
    expect(read(everyKind(new ByteWriter().u8(0)).toBytes())).toEqual(EXPECTED)
  })

  it('reads the extensions of variant 1, and skips the keys that only became hot', () => {
    const writer = everyKind(new ByteWriter().u8(1))
    writer.uleb128(1).u8(2).byteString(Uint8Array.of(1))
    writer.uleb128(1).u8(0).uleb128(1).u8(3).bytes(NATIVE).u8(0).byteString(Uint8Array.of(8))
    expect(read(writer.toBytes())).toEqual([...EXPECTED, [`02${NATIVE.toString('hex')}`, '08', CREATION]])
  })

  it.each([
    [[2, 0], /unknown variant 2 of a write set/],
    [[0, 1, 4], /unknown kind 4 of a state key/],
    [[0, 1, 2, 0, 6], /unknown variant 6 of a write op/],
    [[0, 1, 2, 0, 3, 0, 2], /unknown variant 2 of write metadata/],
    [[1, 0, 0, 1, 1], /unknown variant 1 of an extension of a write set/],
    [[0, 1, 3, 1, ...new Uint8Array(96)], /unknown variant 1 of a native position/],
    [[0, 5], /unexpected end/],
  ])('refuses %j', (bytes, why) => {
    expect(() => read(Uint8Array.from(bytes))).toThrow(why)
  })

  it('throws nothing but its own error, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        try {
          read(Uint8Array.of(0, ...noise))
        } catch (error) {
          expect(isLedgerStateError(error, 'invalid_bcs')).toBe(true)
        }
      }),
    )
  })
})
