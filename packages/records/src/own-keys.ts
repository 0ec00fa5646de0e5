// Keys under which stores keep what belongs to a ledger and is not state of its chain. Their first byte begins no state
// key, so reads of state do not find them. Prunes, truncations and replicas treat them as all other keys.

const OWN = 0xfe

/** Key of the root of the state, 32 bytes. The last version of each block writes it if the source has it. */
export const STATE_ROOT_KEY: Uint8Array = Uint8Array.of(OWN, 1)

/**
 * Key of the root of the ledger's accumulator, 32 bytes. The last version of each block writes it that no
 * signed ledger info covers yet.
 */
export const ACCUMULATOR_ROOT_KEY: Uint8Array = Uint8Array.of(OWN, 2)

/** Prefix of the keys of ends of epochs: see `epochEndingKey`. */
export const EPOCH_ENDING_PREFIX: Uint8Array = Uint8Array.of(OWN, 3)

/**
 * Key of the end of an epoch whose signatures the store has checked: the prefix and the epoch, u64 with the highest
 * byte first.
 */
export function epochEndingKey(epoch: bigint): Uint8Array {
  const key = new Uint8Array(EPOCH_ENDING_PREFIX.length + 8)
  key.set(EPOCH_ENDING_PREFIX)
  new DataView(key.buffer).setBigUint64(EPOCH_ENDING_PREFIX.length, epoch)
  return key
}

/**
 * Key that has an empty value as long as versions come with the transactions that made them. The first of these
 * versions writes it, and the first version without a transaction deletes it.
 */
export const TRANSACTIONS_KEY: Uint8Array = Uint8Array.of(OWN, 4)

/**
 * Number of keys that take turns with transactions: neighbouring versions write different keys, so a database that is
 * sharded by key spreads them.
 */
const TRANSACTION_LANES = 64

const TRANSACTION_KEYS: readonly Uint8Array[] = Array.from({ length: TRANSACTION_LANES }, (_, lane) =>
  Uint8Array.of(...TRANSACTIONS_KEY, lane),
)

/**
 * Key under which a version writes the transaction that made it (`transactionToBytes`). Other versions share the key:
 * what is found there is of this version only if this version wrote it.
 */
export function transactionKey(version: bigint): Uint8Array {
  return TRANSACTION_KEYS[Number(version % BigInt(TRANSACTION_LANES))]!
}

/** Whether a key is one of `transactionKey`. */
export function isTransactionKey(key: Uint8Array): boolean {
  return key.length === TRANSACTIONS_KEY.length + 1 && key[0] === OWN && key[1] === TRANSACTIONS_KEY[1]
}

/**
 * Key of the definition of a slice. Only stores that keep a slice of their ledger have it, from their first version on.
 */
export const SLICE_KEY: Uint8Array = Uint8Array.of(OWN, 5)

/** Prefix of the keys of accounts and objects that a slice keeps. The address follows. */
export const SLICE_ACCOUNT_PREFIX: Uint8Array = Uint8Array.of(OWN, 6)

/** Prefix of the keys of tables that a slice keeps. The handle follows. */
export const SLICE_TABLE_PREFIX: Uint8Array = Uint8Array.of(OWN, 7)

/**
 * Prefix of the keys of types of table values that a slice knows. A number follows, u32 with the highest byte first.
 */
export const SLICE_TYPE_PREFIX: Uint8Array = Uint8Array.of(OWN, 8)

/** Key under which a slice counts what it left out: the last version of each commit that left something out writes it. */
export const SLICE_LEFT_OUT_KEY: Uint8Array = Uint8Array.of(OWN, 10)

/**
 * Prefix of the keys under which a slice notes that a version deletes a key of a member that it does not know whole.
 * The deleted key follows. Without the note, a store has no trace of the deletion of what it never had.
 */
export const SLICE_DELETION_PREFIX: Uint8Array = Uint8Array.of(OWN, 11)

const SLICE_KINDS = new Set(
  [
    SLICE_KEY,
    SLICE_ACCOUNT_PREFIX,
    SLICE_TABLE_PREFIX,
    SLICE_TYPE_PREFIX,
    SLICE_LEFT_OUT_KEY,
    SLICE_DELETION_PREFIX,
  ].map((key) => key[1]!),
)

/** Whether a key holds what a slice keeps, deletes or left out. */
export function isSliceKey(key: Uint8Array): boolean {
  return key[0] === OWN && SLICE_KINDS.has(key[1]!)
}

/** Whether a key is `SLICE_LEFT_OUT_KEY`. */
export function isSliceLeftOutKey(key: Uint8Array): boolean {
  return key.length === SLICE_LEFT_OUT_KEY.length && key[0] === OWN && key[1] === SLICE_LEFT_OUT_KEY[1]
}

/**
 * Key of a signed checkpoint, in the form of `checkpointToBytes` of `@ledger-state/proof`. It proves that a ledger info
 * that validators signed commits to the state after the version that writes the key.
 */
export const CHECKPOINT_KEY: Uint8Array = Uint8Array.of(OWN, 9)

/** Whether a key belongs to the store, and not to the state of the chain. */
export function isOwnKey(key: Uint8Array): boolean {
  return key[0] === OWN
}
