import { describe, expect, it } from 'vitest'
import {
  chainIdToBigint,
  expectArray,
  expectBytes,
  expectCount,
  expectFunction,
  expectObject,
  expectOneOf,
  expectOptions,
  expectString,
  expectU64,
  toHistoryRange,
  toScanRange,
  validateMark,
  validateTruncation,
} from './validate-arguments.js'
import { expectListable, windowStart } from './window.js'
import { toWriteRange } from './write-range.js'

const BLOCK = { height: 0n, epoch: 0n, timestampUsec: 0n }
const LEDGER = { chainId: 1n, latestVersion: 9n, latestBlock: BLOCK, oldestVersion: 3n, oldestBlock: BLOCK }
const KEY = new Uint8Array(1)

describe('an argument', () => {
  it.each<[string, (value: never) => unknown, readonly unknown[], string, readonly unknown[]]>([
    ['a u64', (value) => expectU64('it', value), [0n, 2n ** 64n - 1n], 'it', [-1n, 2n ** 64n, 1, null]],
    ['bytes', (value) => expectBytes('it', value), [KEY], 'it', ['x', [1], undefined]],
    ['an array', (value) => expectArray('it', value), [[]], 'it', [{ length: 0 }, KEY]],
    ['an object', (value) => expectObject('it', value), [{}, []], 'it', [null, undefined, 1]],
    ['options', (value) => expectOptions('it', value, ['a']), [{}, { a: 1 }], 'it', [null, 1, { b: 1 }]],
    ['a function', (value) => expectFunction('it', value), [() => {}], 'it', [{}, null]],
    ['a string', (value) => expectString('it', value), ['', 'x'], 'it', [1, null]],
    ['a choice', (value) => expectOneOf('it', value, ['a', 'b']), ['a', 'b'], 'it', ['c', undefined]],
    [
      'a count',
      (value) => expectCount('it', value, 1),
      [1, Number.POSITIVE_INFINITY],
      'it',
      [0, 1.5, '1', 1n, -Infinity, NaN],
    ],
    [
      'a chain id',
      (value) => chainIdToBigint(value),
      [0, 7n, 2n ** 64n - 1n],
      'the chain id',
      [-1, 0.5, 2 ** 53, '1', 2n ** 64n],
    ],
    [
      'a mark',
      (value) => validateMark(value),
      [undefined, KEY, new Uint8Array(65_536)],
      'the mark',
      ['x', new Uint8Array(65_537)],
    ],
    ['options of a truncation', (value) => validateTruncation(value), [{}], 'the options of the truncation', [null, 1]],
    ['a key', (value) => toHistoryRange(value), [KEY], 'the key', ['k']],
    [
      'options of a history',
      (value) => toHistoryRange(KEY, value),
      [{}, { order: 'asc', first: 1n }],
      'the options of the history',
      [null, 1],
    ],
    ['a first version', (value) => toHistoryRange(KEY, { first: value }), [0n], 'the first version', [1]],
    ['a last version', (value) => toHistoryRange(KEY, { last: value }), [0n, undefined], 'the last version', [1]],
    ['an order', (value) => toHistoryRange(KEY, { order: value }), ['asc', 'desc'], 'the order of the history', ['up']],
    ['a prefix', (value) => toScanRange(value), [KEY], 'the prefix', ['k']],
    ['options of a scan', (value) => toScanRange(KEY, value), [{}], 'the options of the scan', [null, 1]],
    ['a start', (value) => toScanRange(KEY, { start: value }), [KEY], 'the start of the scan', ['k']],
    ['a limit', (value) => toScanRange(KEY, { limit: value }), [0, 1], 'the limit of the scan', [-1, 0.5]],
    [
      'a search',
      (value) => toWriteRange(value, LEDGER),
      [{ until: 4n }, { above: 3n, last: 4n }],
      'the search',
      [null, 1],
    ],
    ['a begin', (value) => toWriteRange({ until: value }, LEDGER), [4n], 'the version where the search begins', [1]],
    ['an end', (value) => toWriteRange({ above: 3n, last: value }, LEDGER), [4n], 'the last version', [1]],
    ['a window', (value) => windowStart(LEDGER, value), [1n, 2n ** 70n], 'the number of versions to retain', [0n, 1]],
    ['a first of a list', (value) => expectListable(value, 5n, LEDGER), [4n], 'the first version', [1]],
    ['a last of a list', (value) => expectListable(4n, value, LEDGER), [5n], 'the last version', [1]],
  ])('that is %s is accepted, and any other is refused by its name', (_, check, taken, what, refused) => {
    for (const value of taken) expect(() => check(value as never)).not.toThrow()
    for (const value of refused) {
      expect(() => check(value as never)).toThrow(
        expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(`${what} `) }),
      )
    }
  })

  it.each<[() => unknown, string]>([
    [() => expectU64('it', 1), 'a bigint from 0 to 2^64 - 1'],
    [() => expectBytes('it', 1), 'a Uint8Array'],
    [() => expectArray('it', 1), 'an array'],
    [() => expectObject('it', 1), 'an object'],
    [() => expectOptions('it', 1, []), 'an object'],
    [() => expectFunction('it', 1), 'a function'],
    [() => expectString('it', 1), 'a string'],
    [() => expectOneOf('it', 1, ['a', 'b']), 'one of a, b'],
    [() => expectCount('it', '1', 2), 'a whole number of at least 2'],
    [() => chainIdToBigint(-1), 'a u64, as a number or a bigint'],
    [() => windowStart(LEDGER, 0n), 'a bigint of at least 1'],
  ])('is refused with the expectation: %s', (check, expected) => {
    expect(check).toThrow(new RegExp(`, expected ${expected.replace('^', '\\^')}$`))
  })
})

describe('a search for writes', () => {
  it('ends at the latest version, and upward begins above its version', () => {
    expect(toWriteRange({ above: 4n, last: 100n }, LEDGER)).toEqual({ first: 5n, last: 9n, isUpward: true, begin: 4n })
    expect(toWriteRange({ above: 4n, last: 6n }, LEDGER)).toEqual({ first: 5n, last: 6n, isUpward: true, begin: 4n })
    expect(toWriteRange({ until: 100n }, LEDGER)).toEqual({ first: 0n, last: 9n, isUpward: false, begin: 100n })
    expect(toWriteRange({ until: 6n }, LEDGER)).toEqual({ first: 0n, last: 6n, isUpward: false, begin: 6n })
  })

  it('is refused in an empty store', () => {
    expect(() => toWriteRange({ until: 1n }, undefined)).toThrow(expect.objectContaining({ code: 'no_ledger' }))
  })
})
