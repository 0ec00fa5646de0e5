import { sha3_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'

/** Variant of a session that is not a transaction's. */
const VOID_SESSION = 5

/** The hash of the session that views run in; all views have the same. */
export const SESSION_HASH: Uint8Array = sha3_256(
  concatBytes(sha3_256(new TextEncoder().encode('APTOS::SessionId')), Uint8Array.of(VOID_SESSION)),
)
