// Keys under which stores keep what belongs to a ledger without being state of its chain. They begin with a byte with which
// no key of state begins, so that no read of state finds them; prunes, truncations and replicas treat them as all others.

const OWN = 0xfe

/** Key of the root of the state, 32 bytes, which the last version of each block writes where its source has it. */
export const STATE_ROOT_KEY: Uint8Array = Uint8Array.of(OWN, 1)

/** Key of the root of the ledger's accumulator, 32 bytes, which the last version of each block writes that nobody signed yet. */
export const ACCUMULATOR_ROOT_KEY: Uint8Array = Uint8Array.of(OWN, 2)

/** Prefix of the keys of ends of epochs: see `epochEndingKey`. */
export const EPOCH_ENDING_PREFIX: Uint8Array = Uint8Array.of(OWN, 3)

/** Key of the end of an epoch, which the store believed: the prefix and the epoch, u64 with the highest byte first. */
export function epochEndingKey(epoch: bigint): Uint8Array {
  const key = new Uint8Array(EPOCH_ENDING_PREFIX.length + 8)
  key.set(EPOCH_ENDING_PREFIX)
  new DataView(key.buffer).setBigUint64(EPOCH_ENDING_PREFIX.length, epoch)
  return key
}

/** Whether a key belongs to the store, and not to the state of the chain. */
export function isOwnKey(key: Uint8Array): boolean {
  return key[0] === OWN
}
