// Runtimes other than Node have no SHA3 of their own: the Web Cryptography API lacks it.
export { sha3_256 as sha3Of } from '@noble/hashes/sha3.js'
