import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToNumberBE } from '@noble/curves/utils.js'

const MESSAGE_LENGTH = 32
const SIGNATURE_LENGTH = 64
const HIGHEST_RECOVERY_ID = 3
const ORDER = secp256k1.Point.Fn.ORDER

/**
 * Recovers the public key of 64 bytes (x, then y) that made a signature (r, then s) of a message hash. `no key` if no
 * key made it; undefined if an input has the wrong length, or r or s is not below the order. A high s is accepted.
 */
export function recoverSecp256k1Key(
  messageHash: Uint8Array,
  recoveryId: number,
  signature: Uint8Array,
): Uint8Array | 'no key' | undefined {
  if (messageHash.length !== MESSAGE_LENGTH || signature.length !== SIGNATURE_LENGTH) return undefined
  if (recoveryId > HIGHEST_RECOVERY_ID) return undefined
  const r = bytesToNumberBE(signature.subarray(0, 32))
  const s = bytesToNumberBE(signature.subarray(32))
  if (r >= ORDER || s >= ORDER) return undefined
  if (r === 0n || s === 0n) return 'no key'
  try {
    const key = new secp256k1.Signature(r, s).addRecoveryBit(recoveryId).recoverPublicKey(messageHash)
    return key.toBytes(false).subarray(1)
  } catch {
    return 'no key'
  }
}
