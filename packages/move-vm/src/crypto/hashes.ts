import { blake2b } from '@noble/hashes/blake2.js'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { keccak_256, sha3_256, sha3_512 } from '@noble/hashes/sha3.js'

/** A hash function and its cost. */
export interface HashFunction {
  readonly hash: (bytes: Uint8Array) => Uint8Array
  /** Begins a hash of bytes that come in pieces. */
  readonly create: () => { update(bytes: Uint8Array): unknown; digest(): Uint8Array }
  /** Bytes that are hashed at a time. */
  readonly blockBytes: number
  /** The work for a block, in simple instructions of 50 ns; measured. */
  readonly blockInstructions: number
}

/** The hash functions of the natives, by name. */
export const HASH_FUNCTIONS = {
  sha2_256: { hash: sha256, create: () => sha256.create(), blockBytes: 64, blockInstructions: 15 },
  sha2_512: { hash: sha512, create: () => sha512.create(), blockBytes: 128, blockInstructions: 45 },
  sha3_256: { hash: sha3_256, create: () => sha3_256.create(), blockBytes: 136, blockInstructions: 80 },
  sha3_512: { hash: sha3_512, create: () => sha3_512.create(), blockBytes: 72, blockInstructions: 80 },
  keccak256: { hash: keccak_256, create: () => keccak_256.create(), blockBytes: 136, blockInstructions: 80 },
  ripemd160: { hash: ripemd160, create: () => ripemd160.create(), blockBytes: 64, blockInstructions: 20 },
  blake2b_256: {
    hash: (bytes) => blake2b(bytes, { dkLen: 32 }),
    create: () => blake2b.create({ dkLen: 32 }),
    blockBytes: 128,
    blockInstructions: 60,
  },
} as const satisfies Record<string, HashFunction>

/** The name of a hash function. */
export type HashFunctionName = keyof typeof HASH_FUNCTIONS
