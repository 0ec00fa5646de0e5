import { sha3_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'

/** The variant of a session without a transaction. */
const VOID_SESSION = 5

/** The hash of the session that a view runs in: the same for all. */
export const SESSION_HASH: Uint8Array = sha3_256(
  concatBytes(sha3_256(new TextEncoder().encode('APTOS::SessionId')), Uint8Array.of(VOID_SESSION)),
)
