import {
  ED25519_KEY_LENGTH,
  ED25519_SIGNATURE_LENGTH,
  isEd25519Key,
  isEd25519Point,
  isEd25519Signature,
} from './ed25519.js'

const MOST_KEYS = 32
const BITMAP_LENGTH = 4

/** Cuts the bytes into pieces of `length`; a shorter rest is left out. */
function wholePieces(bytes: Uint8Array, length: number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at + length <= bytes.length; at += length) pieces.push(bytes.subarray(at, at + length))
  return pieces
}

/**
 * Splits a multi-key into up to 32 keys and its threshold, the last byte. Undefined if the bytes are not a multi-key.
 */
function readMultiKey(bytes: Uint8Array): { keys: Uint8Array[]; threshold: number } | undefined {
  const keys = wholePieces(bytes, ED25519_KEY_LENGTH)
  const threshold = bytes.at(-1) ?? 0
  const isSound =
    bytes.length % ED25519_KEY_LENGTH === 1 &&
    keys.length >= 1 &&
    keys.length <= MOST_KEYS &&
    threshold >= 1 &&
    threshold <= keys.length
  return isSound ? { keys, threshold } : undefined
}

/** Whether the bytes hold at most 32 keys and each is valid. The threshold is not read. */
export function areEd25519Keys(bytes: Uint8Array): boolean {
  if (Math.floor(bytes.length / ED25519_KEY_LENGTH) > MOST_KEYS) return false
  return wholePieces(bytes, ED25519_KEY_LENGTH).every(isEd25519Key)
}

/** Whether all keys are valid and the threshold is not above their number. */
export function isMultiEd25519Key(bytes: Uint8Array): boolean {
  return readMultiKey(bytes)?.keys.every(isEd25519Key) ?? false
}

/**
 * Whether enough holders signed a message. The signature has the signatures in the order of their keys, then a bitmap
 * of 4 bytes: its bit i, counted from the highest bit of the first byte, says whether key i signed.
 */
export function isMultiEd25519Signature(signature: Uint8Array, key: Uint8Array, message: Uint8Array): boolean {
  const multiKey = readMultiKey(key)
  if (multiKey === undefined || !multiKey.keys.every(isEd25519Point)) return false
  if (signature.length % ED25519_SIGNATURE_LENGTH !== BITMAP_LENGTH) return false
  const bitmap = signature.subarray(signature.length - BITMAP_LENGTH)
  const signers: number[] = []
  for (let bit = 0; bit < 8 * BITMAP_LENGTH; bit++) {
    if ((bitmap[bit >> 3]! & (0x80 >> (bit & 7))) !== 0) signers.push(bit)
  }
  const signatures = wholePieces(signature.subarray(0, -BITMAP_LENGTH), ED25519_SIGNATURE_LENGTH)
  if (signatures.length !== signers.length || signers.length < multiKey.threshold) return false
  return signers.every((signer, index) => {
    const signerKey = multiKey.keys[signer]
    return signerKey !== undefined && isEd25519Signature(signatures[index]!, signerKey, message)
  })
}
