import type { PublicKey } from '@chainsafe/blst'
import { bytesToHexDigits, SizedCache } from '@ledger-state/core'
import { type Bls, PUBLIC_KEY_LENGTH, SIGNATURE_LENGTH, type SignedStatement } from '@ledger-state/proof'

/** Keys that are remembered. Validating a key takes 0.1 ms, and a validator signs with the same key in every epoch. */
const CACHED_KEYS = 4_096

/** BLS by the library blst, about 2 ms a check; undefined if it has no build for this platform. */
export async function loadNativeBls(): Promise<Bls | undefined> {
  const blst = await import('@chainsafe/blst').then(
    (module) => module.default ?? module,
    () => undefined,
  )
  if (!blst) return undefined
  const keys = new SizedCache<PublicKey>(CACHED_KEYS, 1)

  /**
   * Decodes a public key.
   * @throws if the bytes are not a key
   */
  function readKey(bytes: Uint8Array): PublicKey {
    const name = bytesToHexDigits(bytes)
    const known = keys.get(name)
    if (known) return known
    expectLength(bytes, PUBLIC_KEY_LENGTH)
    const key = blst!.PublicKey.fromBytes(bytes, true)
    keys.set(name, key, 1)
    return key
  }

  return {
    verifyAll(statements: readonly SignedStatement[]): boolean {
      if (statements.length === 0) return true
      try {
        const sums = statements.map(({ publicKeys }) => blst.aggregatePublicKeys(publicKeys.map(readKey)))
        const signatures = statements.map(({ signature }) => {
          expectLength(signature, SIGNATURE_LENGTH)
          return blst.Signature.fromBytes(signature, true, true)
        })
        const messages = statements.map(({ message }) => message)
        return blst.aggregateVerify(messages, sums, blst.aggregateSignatures(signatures))
      } catch {
        return false
      }
    },
  }
}

/** Refuses other lengths: the library would accept uncompressed points, too. */
function expectLength(bytes: Uint8Array, length: number): void {
  if (bytes.length !== length) throw new RangeError(`expected a point of ${length} bytes, found ${bytes.length}`)
}
