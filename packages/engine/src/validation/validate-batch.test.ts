import { describe, expect, it } from 'vitest'
import { validateBatch, validateImportBase, validateImportPart } from './validate-batch.js'

const BLOCK = { height: 1n, epoch: 0n, timestampUsec: 0n }
const KEY = new Uint8Array(1)

const batchOf = (record: object) => () => validateBatch([record as never], { chainId: 1 }, undefined)
const writesOf = (writes: unknown) => batchOf({ version: 4n, block: BLOCK, writes })
const blockOf = (block: unknown) => batchOf({ version: 4n, block, writes: [] })
const baseOf = (base: object) => () => validateImportBase(4n, { chainId: 1, block: BLOCK, ...base } as never)
const partOf = (entry: unknown) => () => validateImportPart(4n, [entry as never], undefined)

describe('a batch', () => {
  it.each<[() => unknown, string]>([
    [() => validateBatch(1 as never, { chainId: 1 }, undefined), 'the batch is the number 1, expected an array'],
    [() => validateBatch([], 1 as never, undefined), 'the options of the commit is the number 1, expected an object'],
    [batchOf(1 as never), 'an element of the batch is the number 1, expected an object'],
    [batchOf({ version: 4 }), 'the version is the number 4, expected a bigint from 0 to 2^64 - 1'],
    [blockOf(1), 'the block of version 4 is the number 1, expected an object'],
    [blockOf({ ...BLOCK, height: 1 }), 'the height of the block of version 4 is the number 1, expected a bigint'],
    [blockOf({ ...BLOCK, epoch: 1 }), 'the epoch of the block of version 4 is the number 1, expected a bigint'],
    [blockOf({ ...BLOCK, timestampUsec: 1 }), 'the time of the block of version 4 is the number 1, expected a bigint'],
    [writesOf(1), 'writes of version 4 is the number 1, expected an array'],
    [writesOf([1]), 'a write of version 4 is the number 1, expected a pair of key and value'],
    [writesOf([['k', KEY]]), 'a key of version 4 is the string "k", expected a Uint8Array'],
    [writesOf([[KEY, 1]]), 'a value of version 4 is the number 1, expected a Uint8Array, or null for a deletion'],
  ])('is refused with the fault and its place: %#', (check, message) => {
    expect(check).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(message) }),
    )
  })
})

describe('an import', () => {
  it.each<[() => unknown, string]>([
    [() => validateImportBase(4n, 1 as never), 'the base of the import is the number 1, expected an object'],
    [() => validateImportBase(4 as never, {} as never), 'the version of the import is the number 4, expected a bigint'],
    [baseOf({ block: 1 }), 'the block of the import is the number 1, expected an object'],
    [baseOf({ complete: 1 }), 'complete is the number 1, expected a boolean'],
    [() => validateImportPart(4n, 1 as never, undefined), 'the entries is the number 1, expected an array'],
    [partOf(1), 'an entry is the number 1, expected an object'],
    [partOf({ key: 1, value: KEY, version: 4n }), 'the key of an entry is the number 1, expected a Uint8Array'],
    [partOf({ key: KEY, value: 1, version: 4n }), 'the value of an entry is the number 1, expected a Uint8Array'],
    [partOf({ key: KEY, value: KEY, version: 4 }), 'the version of an entry is the number 4, expected a bigint'],
  ])('is refused with the fault and its place: %#', (check, message) => {
    expect(check).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(message) }),
    )
  })
})
