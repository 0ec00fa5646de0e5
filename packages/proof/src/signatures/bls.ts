/** Bytes of a compressed public key: a point of G1. */
export const PUBLIC_KEY_LENGTH = 48
/** Bytes of a compressed signature: a point of G2. */
export const SIGNATURE_LENGTH = 96

/** An aggregate signature, and what it claims. */
export interface SignedStatement {
  readonly message: Uint8Array
  /** Public keys of all signers, each with a proof of possession that the chain has checked. At least one. */
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
   * Whether every statement was signed by all of its keys. Messages must differ from each other: the signatures are added and
   * checked by one product of pairings.
   */
  verifyAll(statements: readonly SignedStatement[]): boolean
}
