const TRANSACTION_USER = 0
const AUTHENTICATOR_ED25519 = 0
const PUBLIC_KEY_LENGTH = 32
const SIGNATURE_LENGTH = 64
/** Bytes of an authenticator: tag, then public key and signature, each after its length. */
const AUTHENTICATOR_LENGTH = 1 + 1 + PUBLIC_KEY_LENGTH + 1 + SIGNATURE_LENGTH

/**
 * Chain id that a user transaction is signed for, if a single Ed25519 key signed it: a u8, the last member before the
 * authenticator. It shows the chain of a ledger whose genesis was not read.
 */
export function signedChainId(transaction: Uint8Array): number | undefined {
  const authenticatorAt = transaction.length - AUTHENTICATOR_LENGTH
  if (transaction[0] !== TRANSACTION_USER || authenticatorAt < 2) return undefined
  const isEd25519 =
    transaction[authenticatorAt] === AUTHENTICATOR_ED25519 &&
    transaction[authenticatorAt + 1] === PUBLIC_KEY_LENGTH &&
    transaction[authenticatorAt + 2 + PUBLIC_KEY_LENGTH] === SIGNATURE_LENGTH
  return isEd25519 ? transaction[authenticatorAt - 1] : undefined
}
