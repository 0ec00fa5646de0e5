import type { KeyedEntry, LedgerInfo } from '@ledger-state/core'
import { type BlockInfo, isU64, LedgerStateError, type VersionWrites } from '@ledger-state/core'
import { validateMark } from '../databases/mark.js'
import type { ImportBase } from './ports.js'

export const MAX_KEY_LENGTH = 65_536
/** 16 MiB. */
export const MAX_VALUE_LENGTH = 16_777_216

/** @throws `invalid_argument` */
export function chainIdToBigint(chainId: bigint | number): bigint {
  const id = Number.isSafeInteger(chainId) ? BigInt(chainId) : chainId
  if (isU64(id)) return id
  throw new LedgerStateError('invalid_argument', `chain id ${String(chainId)}, a u64 is expected`)
}

/**
 * Checks a batch against what the store holds, before anything is written.
 * @throws `version_gap`, `block_order`, `duplicate_key`, `chain_id_mismatch`, `key_too_long`, `value_too_long`, `invalid_argument`
 */
export function validateBatch(
  versions: readonly VersionWrites[],
  chainId: bigint | number,
  ledger: LedgerInfo | undefined,
): void {
  if (ledger && ledger.chainId !== chainIdToBigint(chainId)) {
    const message = `chain id ${chainId}, but the store holds chain ${ledger.chainId}`
    throw new LedgerStateError('chain_id_mismatch', message, { expected: ledger.chainId, found: chainId })
  }
  let previous = ledger?.latestVersion
  let block = ledger?.latestBlock
  for (const record of versions) {
    if (!isU64(record.version)) {
      throw new LedgerStateError(
        'invalid_argument',
        `version ${String(record.version)}, a bigint from 0 to 2^64 - 1 is expected`,
      )
    }
    if (previous !== undefined && record.version !== previous + 1n) {
      const message = `version ${record.version} follows version ${previous}, expected ${previous + 1n}`
      throw new LedgerStateError('version_gap', message, { expected: previous + 1n, found: record.version })
    }
    if (record.block) validateBlock(record.block, record.version, block)
    else if (!block)
      throw new LedgerStateError('block_order', `version ${record.version} begins the store without a block`)
    block = record.block ?? block
    previous = record.version
    validateWrites(record)
  }
}

function validateBlock(block: BlockInfo, version: bigint, previous: BlockInfo | undefined): void {
  if (![block.height, block.epoch, block.timestampUsec].every(isU64)) {
    throw new LedgerStateError('invalid_argument', `the block of version ${version} has a member that is no u64 bigint`)
  }
  if (previous && block.height <= previous.height) {
    const message = `version ${version} begins block ${block.height}, behind block ${previous.height}`
    throw new LedgerStateError('block_order', message)
  }
}

function validateWrites({ version, writes }: VersionWrites): void {
  for (const [key, value] of writes) {
    if (!(key instanceof Uint8Array) || !(value === null || value instanceof Uint8Array)) {
      throw new LedgerStateError(
        'invalid_argument',
        `version ${version} has a write that is not [bytes, bytes or null]`,
      )
    }
    if (key.length > MAX_KEY_LENGTH) {
      throw new LedgerStateError(
        'key_too_long',
        `version ${version} has a key of ${key.length} bytes, at most ${MAX_KEY_LENGTH} are kept`,
      )
    }
    if (value && value.length > MAX_VALUE_LENGTH) {
      throw new LedgerStateError(
        'value_too_long',
        `version ${version} has a value of ${value.length} bytes, at most ${MAX_VALUE_LENGTH} are kept`,
      )
    }
  }
}

export function duplicateKey(version: bigint): LedgerStateError {
  return new LedgerStateError('duplicate_key', `version ${version} writes one key twice`, { version })
}

/** @throws `version_not_found`, `version_pruned` */
export function expectKept(version: bigint, ledger: LedgerInfo): void {
  if (version > ledger.latestVersion) {
    throw new LedgerStateError('version_not_found', `Ledger version not found by Ledger version(${version})`, {
      version,
    })
  }
  if (version < ledger.oldestVersion) throw versionPruned(version, ledger.oldestVersion)
}

export function versionPruned(version: bigint, oldestVersion: bigint): LedgerStateError {
  return new LedgerStateError('version_pruned', `Ledger version(${version}) has been pruned`, {
    version,
    oldestVersion,
  })
}

export function noLedger(): LedgerStateError {
  return new LedgerStateError('no_ledger', 'nothing was ingested yet: the store is empty')
}

/** Lowest version of a window of so many versions. */
export function windowStart(latestVersion: bigint, retainVersions: bigint): bigint {
  if (typeof retainVersions !== 'bigint' || retainVersions < 1n) {
    throw new LedgerStateError(
      'invalid_argument',
      `a window of ${String(retainVersions)} versions, at least 1n is expected`,
    )
  }
  return retainVersions > latestVersion ? 0n : latestVersion - retainVersions + 1n
}

/** @throws `invalid_argument`, `key_too_long`, `value_too_long` */
export function validateImport(version: bigint, base: ImportBase | undefined, entry?: KeyedEntry): void {
  if (base) {
    validateBatch([{ version, block: base.block, writes: [] }], base.chainId, undefined)
    validateMark(base.mark)
  }
  if (!entry) return
  if (!isU64(entry.version) || entry.version > version || entry.value === null) {
    const message = `an entry of the state at version ${version} has no value or was written at ${String(entry.version)}`
    throw new LedgerStateError('invalid_argument', message)
  }
  validateWrites({ version, writes: [[entry.key, entry.value]] })
}
