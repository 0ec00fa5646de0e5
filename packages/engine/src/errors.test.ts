import type { LedgerStateError } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import {
  blockOrder,
  chainIdMismatch,
  duplicateKey,
  importNeedsEmptyStore,
  importReplaced,
  invalidArgument,
  invalidArgumentErrors,
  keyTooLong,
  noLedger,
  storeClosed,
  storeCorrupt,
  storeFailed,
  storeLockedHere,
  valueTooLong,
  versionGap,
  versionNotFound,
  versionPruned,
  versionTruncated,
} from './errors.js'

describe('errors', () => {
  it.each<[() => LedgerStateError<string>, string, string, object]>([
    [() => noLedger(), 'no_ledger', 'nothing was ingested yet: the store is empty', {}],
    [() => versionNotFound(7n), 'version_not_found', 'Ledger version not found by Ledger version(7)', { version: 7n }],
    [
      () => versionPruned(2n, 5n),
      'version_pruned',
      'Ledger version(2) has been pruned',
      { version: 2n, oldestVersion: 5n },
    ],
    [() => versionTruncated(7n), 'version_truncated', 'Ledger version(7) was cut off by a truncation', { version: 7n }],
    [
      () => importReplaced(7n),
      'invalid_argument',
      'the import of version 7 was replaced by another import or by a commit',
      { version: 7n },
    ],
    [() => invalidArgumentErrors.markTooLong(9, 8), 'invalid_argument', 'the mark has 9 bytes; the limit is 8', {}],
    [
      () => invalidArgumentErrors.entryFromLaterVersion(9n, 8n),
      'invalid_argument',
      'an entry was written by version 9, later than the imported version 8',
      {},
    ],
    [
      () => versionGap(4n, 7n),
      'version_gap',
      'version 7 does not follow version 4; expected 5',
      { expected: 5n, found: 7n },
    ],
    [
      () => blockOrder.firstBlockMissing(4n),
      'block_order',
      'version 4 is the first of the store but does not begin a block',
      {},
    ],
    [
      () => blockOrder.blockNotHigher(4n, 2n, 3n),
      'block_order',
      'version 4 begins block 2, which is not higher than the previous block 3',
      {},
    ],
    [
      () => blockOrder.blockEarlier(4n, 20n, 30n),
      'block_order',
      'version 4 begins a block at 20 µs, which is before the time 30 µs of the previous block',
      {},
    ],
    [() => duplicateKey(4n), 'duplicate_key', 'version 4 writes one key twice', { version: 4n }],
    [
      () => chainIdMismatch(1n, 2n),
      'chain_id_mismatch',
      'the commit is for chain 2, but the store holds chain 1',
      { expected: 1n, found: 2n },
    ],
    [() => keyTooLong(4n, 9, 8), 'key_too_long', 'version 4 writes a key of 9 bytes; the limit is 8', {}],
    [() => valueTooLong(4n, 9, 8), 'value_too_long', 'version 4 writes a value of 9 bytes; the limit is 8', {}],
    [
      () => importNeedsEmptyStore(),
      'store_not_empty',
      'a state can only be imported into an empty store; this one has versions',
      {},
    ],
    [
      () => storeLockedHere('the folder'),
      'store_locked',
      'this program already has the store open for writing and holds the folder; close that engine first',
      { holder: 'self' },
    ],
    [() => storeClosed(), 'store_closed', 'the store is closed', {}],
    [() => storeCorrupt('why'), 'store_corrupt', 'the store is damaged: why', {}],
    [() => storeFailed('why', undefined), 'store_failed', 'the store failed: why', {}],
    [
      () => invalidArgumentErrors.unknownOption('the options', 'x', undefined),
      'invalid_argument',
      'the options have no member "x"',
      {},
    ],
    [
      () => invalidArgumentErrors.unknownOption('the options', 'x', 'y'),
      'invalid_argument',
      'the options have no member "x"; did you mean "y"?',
      {},
    ],
  ])('have the code, words and fields of row %#', (make, code, message, fields) => {
    const error = make()
    expect(error).toMatchObject({ code, message })
    expect(error.fields).toEqual(fields)
  })

  it('keep their cause', () => {
    const cause = new Error('the cause')
    for (const error of [storeLockedHere('it', cause), storeCorrupt('why', cause), storeFailed('why', cause)]) {
      expect(error.cause).toBe(cause)
    }
  })
})

describe('invalidArgument', () => {
  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    ['text', 'the string "text"'],
    [[1], 'an array'],
    [() => {}, 'a value of type function'],
    [new Map(), 'a value of type Map'],
    [Object.create(null), 'a value of type object'],
    [7n, 'the bigint 7'],
    [0.5, 'the number 0.5'],
  ])('describes %o as %s', (found, description) => {
    expect(invalidArgument('it', 'a boolean', found).message).toBe(`it is ${description}, expected a boolean`)
  })
})
