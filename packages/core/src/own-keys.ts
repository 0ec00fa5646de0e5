// Keys under which stores keep what belongs to a ledger without being state of its chain. They begin with a byte with which
// no key of state begins, so that no read of state finds them; prunes, truncations and replicas treat them as all others.

const OWN = 0xfe

/** Key of the root of the state, 32 bytes, which the last version of each block writes where its source has it. */
export const STATE_ROOT_KEY: Uint8Array = Uint8Array.of(OWN, 1)

/** Whether a key belongs to the store, and not to the state of the chain. */
export function isOwnKey(key: Uint8Array): boolean {
  return key[0] === OWN
}
