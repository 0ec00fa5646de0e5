/** Length in bytes of a compressed public key, a point of G1. */
export const PUBLIC_KEY_LENGTH = 48
/** Length in bytes of a compressed signature, a point of G2. */
export const SIGNATURE_LENGTH = 96

/** An aggregate signature with its signers and message. */
export interface SignedStatement {
  readonly message: Uint8Array
  /** Public keys of all signers, at least one. The chain has checked a proof of possession of each. */
  readonly publicKeys: readonly Uint8Array[]
  readonly signature: Uint8Array
}

/**
 * BLS signatures over BLS12-381 with minimal public keys, and the suite BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_ of
 * draft-irtf-cfrg-bls-signature. A point that is not on its curve or not in its subgroup, a point at infinity, a sum of keys at
 * infinity, and an encoding of another length are all refused.
 */
export interface Bls {
  /**
   * Whether all keys of every statement signed it. Messages must differ from each other: the signatures are added and
   * checked by one product of pairings.
   */
  verifyAll(statements: readonly SignedStatement[]): boolean
}
