import { ByteReader, parseAddress } from '@ledger-state/core'
import type { Random } from '@ledger-state/testing/random'
import {
  decodeStateKey,
  encodeStateKey,
  moduleKey,
  parseStructTag,
  readStateKey,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
} from '@ledger-state/type-tag'
import { assert, expectOwnError, mutate, type Target } from './target.ts'

const TAGS = ['0x1::a::B', '0x1::coin::CoinStore<0xabc::m::T<u8, vector<vector<bool>>>>'].map(parseStructTag)

function generateKey(random: Random): Uint8Array {
  const address = parseAddress(`0x${random.below(1 << 30).toString(16)}`)
  switch (random.below(4)) {
    case 0:
      return moduleKey(address, random.pick(['m', 'a_long_name_of_a_module']))
    case 1:
      return resourceKey(address, random.pick(TAGS))
    case 2:
      return resourceGroupKey(address, random.pick(TAGS))
    default:
      return tableItemKey(address, random.bytes(random.below(40)))
  }
}

/** State keys in both forms. */
export const stateKeyTarget: Target = {
  name: 'state-key',
  generate(random) {
    return mutate(random, generateKey(random))
  },
  generateLong(random, size) {
    const address = new Uint8Array(32)
    return random.below(2) === 0 ? moduleKey(address, 'm'.repeat(size)) : tableItemKey(address, random.bytes(size))
  },
  check(input) {
    try {
      const again = encodeStateKey(decodeStateKey(input))
      assert(Buffer.compare(again, input) === 0, 'the key is not encoded as it was')
    } catch (error) {
      expectOwnError(error, 'invalid_bcs')
    }
    try {
      readStateKey(new ByteReader(input))
    } catch (error) {
      expectOwnError(error, 'invalid_bcs')
    }
  },
}
