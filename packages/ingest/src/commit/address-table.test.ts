import { ADDRESS_LENGTH, bytesToHex } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { AddressTable, NO_PLACE } from './address-table.js'

const seed = testSeed()
const LENGTH = 5
/** Bytes before an address. */
const AT = 3

describe('a table of addresses', () => {
  it('finds what a map has, and forgets only what was not used since the last renewal', () => {
    const random = createRandom(seed)
    for (let round = 0; round < scaledRounds(10); round++) {
      const most = 1 + random.below(3_000)
      const table = new AddressTable(LENGTH, most)
      // Addresses that differ in one bit, too.
      const addresses = Array.from({ length: 2_000 }, () => {
        const bytes = random.below(2) === 0 ? new Uint8Array(AT + ADDRESS_LENGTH) : random.bytes(AT + ADDRESS_LENGTH)
        const at = AT + random.below(ADDRESS_LENGTH)
        bytes[at] = bytes[at]! ^ (1 << random.below(8))
        return bytes
      })
      let [young, old] = [new Map<string, number>(), new Map<string, number>()]
      for (let step = 0; step < 12_000; step++) {
        const bytes = random.pick(addresses)
        const number = random.below(2)
        const name = `${number} ${bytesToHex(bytes.subarray(AT))}`
        const known = young.get(name) ?? old.get(name)
        const found = table.find(bytes, AT, number)
        const place = found === NO_PLACE ? table.add(bytes, AT, number) : found
        const value = known ?? 0
        const isRight =
          (found === NO_PLACE) === (known === undefined) &&
          table.bytes.subarray(place, place + LENGTH).every((byte) => byte === value) &&
          table.view.getUint8(place) === value
        if (!isRight) expect.fail(`seed ${seed}, round ${round}, step ${step}: ${found} instead of ${known}`)
        const next = random.below(256)
        table.bytes.fill(next, place, place + LENGTH)
        young.set(name, next)
        if (random.below(500) === 0) {
          if (young.size >= most) [young, old] = [new Map(), young]
          table.renew()
        }
      }
    }
  })

  it('keeps the places of all entries until it is renewed', () => {
    const table = new AddressTable(1, 10)
    const addresses = Array.from({ length: 5_000 }, (_, at) => {
      const bytes = new Uint8Array(ADDRESS_LENGTH)
      new DataView(bytes.buffer).setUint32(ADDRESS_LENGTH - 4, at)
      return bytes
    })
    const places = addresses.map((bytes) => table.add(bytes, 0))
    expect(addresses.map((bytes) => table.find(bytes, 0))).toEqual(places)
    table.renew()
    const moved = addresses.map((bytes) => table.find(bytes, 0))
    expect(new Set(moved).size).toBe(addresses.length)
  })
})
