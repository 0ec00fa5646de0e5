import { ByteWriter, isLedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHAIN_ID_RESOURCE_KEY } from './framework-keys.js'
import { parseGenesis } from './genesis.js'

const handle = new Uint8Array(32).fill(7)

/** A genesis transaction with a write of each kind of key and operation. */
function genesisBlob(): Uint8Array {
  const writer = new ByteWriter().u8(1).u8(0).u8(0).uleb128(5)
  writer.bytes(CHAIN_ID_RESOURCE_KEY).u8(0).byteString(Uint8Array.of(4))
  writer.u8(1).bytes(handle).byteString(Uint8Array.of(1, 2)).u8(1).byteString(Uint8Array.of(3))
  writer.u8(2).byteString(Uint8Array.of(9)).u8(2)
  writer.u8(1).bytes(handle).byteString(Uint8Array.of(1)).u8(3).byteString(Uint8Array.of(5)).u8(0).u64(1n).u64(2n)
  writer.u8(1).bytes(handle).byteString(Uint8Array.of(2)).u8(5).u8(1).u64(1n).u64(2n).u64(3n)
  return writer.uleb128(0).toBytes()
}

describe('parseGenesis', () => {
  it('turns keys into their database form and reads every kind of write', () => {
    const { record, chainId } = parseGenesis(genesisBlob())
    expect(chainId).toBe(4)
    expect(record.writes).toEqual([
      [CHAIN_ID_RESOURCE_KEY, Uint8Array.of(4)],
      [Uint8Array.of(1, ...handle, 1, 2), Uint8Array.of(3)],
      [Uint8Array.of(0xff, 9), null],
      [Uint8Array.of(1, ...handle, 1), Uint8Array.of(5)],
      [Uint8Array.of(1, ...handle, 2), null],
    ])
  })

  it('refuses a genesis without a chain id', () => {
    expect(() => parseGenesis(Uint8Array.of(1, 0, 0, 0, 0))).toThrow(/ChainId/)
  })

  it('refuses every cut and other transactions with its own error', () => {
    const blob = genesisBlob()
    for (let length = 0; length < blob.length - 1; length++) {
      expect(() => parseGenesis(blob.subarray(0, length))).toThrow(expect.objectContaining({ code: 'invalid_genesis' }))
    }
    expect(() => parseGenesis(Uint8Array.of(0, 1, 2))).toThrow(/a genesis transaction has 1 at byte 0/)
  })

  it('throws nothing but its own error, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        try {
          parseGenesis(Uint8Array.of(1, 0, 0, ...noise))
        } catch (error) {
          expect(isLedgerStateError(error, 'invalid_genesis')).toBe(true)
        }
      }),
    )
  })
})
