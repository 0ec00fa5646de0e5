import { ADDRESS_LENGTH, ByteReader, ByteWriter } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { readLedgerInfo, type Validator } from './ledger-info.js'

const KEY = Uint8Array.from({ length: 48 }, (_, at) => at)

/** BCS of a ledger info that names the validators of the next epoch. */
function infoOf(validators: number, key: Uint8Array): Uint8Array {
  const writer = new ByteWriter()
    .u8(0)
    .u64(3n)
    .u64(1n)
    .bytes(new Uint8Array(2 * HASH_LENGTH))
    .u64(9n)
    .u64(5n)
  writer.bool(true).u64(4n).uleb128(validators)
  for (let at = 0; at < validators; at++) {
    writer
      .bytes(new Uint8Array(ADDRESS_LENGTH).fill(at & 0xff))
      .byteString(key)
      .u64(BigInt(at))
  }
  return writer.bytes(new Uint8Array(HASH_LENGTH)).byteString(new Uint8Array(1)).bool(false).toBytes()
}

function validatorsOf(bytes: Uint8Array) {
  const reader = new ByteReader(bytes)
  const { nextEpoch } = readLedgerInfo(reader)
  reader.expectEnd()
  return nextEpoch!.validators
}

function plain({ address, publicKey, votingPower }: Validator) {
  return { address: [...address], publicKey: [...publicKey], votingPower }
}

describe('readLedgerInfo', () => {
  it('gives the validators of the next epoch', () => {
    const validators = validatorsOf(infoOf(3, KEY))
    expect(validators.length).toBe(3)
    const expected = [0, 1, 2].map((at) => ({
      address: new Array(ADDRESS_LENGTH).fill(at),
      publicKey: [...KEY],
      votingPower: BigInt(at),
    }))
    expect(validators.map(plain)).toEqual(expected)
  })

  it('refuses more validators than a signature can name', () => {
    expect(validatorsOf(infoOf(65_536, new Uint8Array())).length).toBe(65_536)
    expect(() => validatorsOf(infoOf(65_537, new Uint8Array()))).toThrow(
      '65537 validators of an epoch; at most 65536 can sign',
    )
  })
})
