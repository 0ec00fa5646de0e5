import type { BlockInfo, KeyedEntry, VersionWrites } from '@ledger-state/core'
import {
  blockOrder,
  chainIdMismatch,
  invalidArgument,
  invalidArgumentErrors,
  keyTooLong,
  valueTooLong,
  versionGap,
} from '../errors.js'
import type { CommitOptions, ImportBase } from '../ports/engine-ports.js'
import type { LedgerSummary } from '../ports/state-port.js'
import { MAX_ANNOTATION_LENGTH } from './stored-value.js'
import {
  chainIdToBigint,
  expectArray,
  expectBytes,
  expectObject,
  expectU64,
  validateMark,
} from './validate-arguments.js'

/** Longest key in bytes: 64 KiB. */
export const MAX_KEY_LENGTH = 65_536
/** Longest value in bytes: 16 MiB. */
export const MAX_VALUE_LENGTH = 16_777_216

/**
 * Checks a batch against the ledger of the store before anything is written, and returns the chain id. It does not look
 * for keys that one version writes twice: the engine finds these while it writes.
 * @throws `version_gap`, `block_order`, `chain_id_mismatch`, `key_too_long`, `value_too_long`, `invalid_argument`
 */
export function validateBatch(
  versions: readonly VersionWrites[],
  options: CommitOptions,
  ledger: LedgerSummary | undefined,
): bigint {
  expectArray('the batch', versions)
  expectObject('the options of the commit', options)
  validateMark(options.mark)
  const chainId = chainIdToBigint(options.chainId)
  if (ledger && ledger.chainId !== chainId) throw chainIdMismatch(ledger.chainId, chainId)
  let previous = ledger?.latestVersion
  let block = ledger?.latestBlock
  for (const record of versions) {
    expectObject('an element of the batch', record)
    expectU64('the version', record.version)
    if (previous !== undefined && record.version !== previous + 1n) throw versionGap(previous, record.version)
    if (record.block !== undefined) validateBlock(record.block, record.version, block)
    else if (!block) throw blockOrder.firstBlockMissing(record.version)
    block = record.block ?? block
    previous = record.version
    validateWrites(record)
  }
  return chainId
}

function validateBlock(block: BlockInfo, version: bigint, previous: BlockInfo | undefined): void {
  expectObject(`the block of version ${version}`, block)
  expectU64(`the height of the block of version ${version}`, block.height)
  expectU64(`the epoch of the block of version ${version}`, block.epoch)
  expectU64(`the time of the block of version ${version}`, block.timestampUsec)
  if (previous && block.height <= previous.height)
    throw blockOrder.blockNotHigher(version, block.height, previous.height)
  // Searches by time rely on this.
  if (previous && block.timestampUsec < previous.timestampUsec) {
    throw blockOrder.blockEarlier(version, block.timestampUsec, previous.timestampUsec)
  }
}

function validateWrites({ version, writes }: VersionWrites): void {
  if (!Array.isArray(writes)) throw invalidArgument(`writes of version ${version}`, 'an array', writes)
  for (const write of writes) {
    if (!Array.isArray(write)) throw invalidArgument(`a write of version ${version}`, 'a pair of key and value', write)
    // By index: destructuring a tuple is slow.
    const key: unknown = write[0]
    const value: unknown = write[1]
    const annotation: unknown = write[2]
    // Messages are built only if they are needed: this runs for every write.
    if (!(key instanceof Uint8Array)) throw invalidArgument(`a key of version ${version}`, 'a Uint8Array', key)
    if (value !== null && !(value instanceof Uint8Array)) {
      throw invalidArgument(`a value of version ${version}`, 'a Uint8Array, or null for a deletion', value)
    }
    validateLengths(version, key, value)
    if (annotation !== undefined) validateAnnotation(value, annotation)
  }
}

/** Checks an annotation. A deletion must not have one. */
function validateAnnotation(value: Uint8Array | null, annotation: unknown): void {
  const isBytes = annotation instanceof Uint8Array
  if (value !== null && isBytes && annotation.length > 0 && annotation.length <= MAX_ANNOTATION_LENGTH) return
  const expected = `a Uint8Array of 1 to ${MAX_ANNOTATION_LENGTH} bytes with a value`
  throw invalidArgument('an annotation', expected, isBytes ? annotation.length : annotation)
}

function validateLengths(version: bigint, key: Uint8Array, value: Uint8Array | null): void {
  if (key.length > MAX_KEY_LENGTH) throw keyTooLong(version, key.length, MAX_KEY_LENGTH)
  if (value && value.length > MAX_VALUE_LENGTH) throw valueTooLong(version, value.length, MAX_VALUE_LENGTH)
}

/** Checks the arguments that finish an import, and returns the chain id. @throws `invalid_argument` */
export function validateImportBase(version: bigint, base: ImportBase): bigint {
  expectU64('the version of the import', version)
  expectObject('the base of the import', base)
  const { complete = true, block } = base
  expectObject('the block of the import', block)
  if (typeof complete !== 'boolean') throw invalidArgument('complete', 'a boolean', complete)
  return validateBatch([{ version, block, writes: [] }], base, undefined)
}

/** Checks a part of an imported state. @throws `invalid_argument`, `key_too_long`, `value_too_long` */
export function validateImportPart(stateVersion: bigint, entries: readonly KeyedEntry[], mark: unknown): void {
  expectArray('the entries', entries)
  validateMark(mark)
  for (const entry of entries) {
    expectObject('an entry', entry)
    expectBytes('the key of an entry', entry.key)
    expectBytes('the value of an entry', entry.value)
    expectU64('the version of an entry', entry.version)
    if (entry.version > stateVersion) throw invalidArgumentErrors.entryFromLaterVersion(entry.version, stateVersion)
    validateLengths(stateVersion, entry.key, entry.value)
    if (entry.annotation !== undefined) validateAnnotation(entry.value, entry.annotation)
  }
}
