// SHA3-256 for runtimes other than Node, which have none: the Web Cryptography API lacks it.
import { sha3_256 } from '@noble/hashes/sha3.js'
import type { Sha3 } from './node-sha3-256.js'

export { sha3_256 as sha3Of } from '@noble/hashes/sha3.js'

export function createSha3(): Sha3 {
  return sha3_256.create()
}
