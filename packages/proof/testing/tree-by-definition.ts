import { bytesToHexDigits } from '@ledger-state/core'
import fc from 'fast-check'
import { LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../src/hashes/ledger-hasher.ts'
import { isSet } from '../src/trees/key-bits.ts'
import type { StatePath } from '../src/trees/state-path.ts'

const hasher = new LedgerHasher()
/** The hash of every value of the trees. */
export const VALUE_HASH = new Uint8Array(32).fill(7)

/** Root of a sparse Merkle tree, computed by its definition. */
export function rootOf(keys: readonly Uint8Array[], depth = 0): Uint8Array {
  if (keys.length === 0) return SPARSE_MERKLE_PLACEHOLDER
  if (keys.length === 1) return hasher.hashPair('SparseMerkleLeafNode', keys[0]!, VALUE_HASH)
  const [left, right] = [keys.filter((key) => !isSet(key, depth)), keys.filter((key) => isSet(key, depth))]
  return hasher.hashPair('SparseMerkleInternal', rootOf(left, depth + 1), rootOf(right, depth + 1))
}

/** Path of a key, computed by its definition. */
export function pathOf(keys: readonly Uint8Array[], key: Uint8Array): StatePath {
  const siblings: Uint8Array[] = []
  let within = keys
  for (let depth = 0; within.length > 1; depth++) {
    const onSide = (one: Uint8Array) => isSet(one, depth) === isSet(key, depth)
    const others = within.filter((one) => !onSide(one))
    siblings.unshift(rootOf(others, depth + 1))
    within = within.filter(onSide)
  }
  return { leaf: within[0] && { keyHash: within[0], valueHash: VALUE_HASH }, siblings }
}

/** Key hashes that share many bits, and some that do not. */
export const someKeys = fc.uniqueArray(
  fc.tuple(fc.nat(3), fc.nat(255), fc.integer({ min: 0, max: 31 })).map(([first, byte, at]) => {
    const key = new Uint8Array(32)
    key[0] = first
    key[at] = byte
    return key
  }),
  { minLength: 2, maxLength: 30, selector: bytesToHexDigits },
)
