import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { LedgerHasher } from '@ledger-state/proof'
import { createRandom } from '@ledger-state/testing/random'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomTransaction } from '../../testing/random-transaction.ts'
import { readTransactionRecord, type TransactionRecord } from './transaction-record.js'
import { SearchBudget } from './transaction-search.js'

const hasher = new LedgerHasher()
const AFTER = Uint8Array.of(0, 0, 0)

interface Auxiliary {
  readonly hasAuxiliary: boolean
  readonly bytes: readonly number[]
}

const someAuxiliary = fc.constantFrom<Auxiliary>(
  { hasAuxiliary: false, bytes: [] },
  { hasAuxiliary: true, bytes: [0] },
  { hasAuxiliary: true, bytes: [1, 7, 0, 0, 0] },
  { hasAuxiliary: true, bytes: [2, 0, 0, 0, 0] },
)
const someSeed = fc.integer({ min: 1 })

function transactionOf(seed: number): Uint8Array {
  return randomTransaction(createRandom(seed), seed % 7).bytes
}

function recordOf(transaction: Uint8Array, { bytes }: Pick<Auxiliary, 'bytes'> = { bytes: [] }): Buffer {
  const info = new ByteWriter()
    .u8(0)
    .u64(1_000n)
    .u8(0)
    .bytes(hasher.hash('Transaction', transaction))
    .bytes(new Uint8Array(64).fill(9))
    .bool(false)
    .bool(false)
    .toBytes()
  return Buffer.concat([transaction, Uint8Array.from(bytes), info, AFTER])
}

/** Reads a record, twice. */
function read(record: Uint8Array, hasAuxiliary = false): TransactionRecord & { readonly end: number } {
  const results = [1, 2].map(() => {
    const reader = new ByteReader(record)
    return { ...readTransactionRecord(reader, hasher, hasAuxiliary), end: reader.offset }
  })
  expect(results[1]).toEqual(results[0])
  return results[0]!
}

/** A user's transaction with a payload of an unknown variant. */
function unknownPayload(content: Uint8Array): Uint8Array {
  return Buffer.concat([new ByteWriter().u8(0).bytes(new Uint8Array(32).fill(4)).u64(1n).u8(9).toBytes(), content])
}

describe('readTransactionRecord', () => {
  it('finds the end of any transaction by decoding it', () => {
    fc.assert(
      fc.property(someSeed, someAuxiliary, (seed, auxiliary) => {
        const transaction = transactionOf(seed)
        const record = recordOf(transaction, auxiliary)
        const found = read(record, auxiliary.hasAuxiliary)
        expect(Buffer.compare(found.transaction, transaction)).toBe(0)
        expect(found).toMatchObject({ undecoded: undefined, end: record.length - AFTER.length })
      }),
    )
  })

  it('searches for the end of a transaction of an unknown variant, and names it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), someAuxiliary, (content, auxiliary) => {
        const transaction = unknownPayload(content)
        const record = recordOf(transaction, auxiliary)
        const found = read(record, auxiliary.hasAuxiliary)
        expect(Buffer.compare(found.transaction, transaction)).toBe(0)
        expect(found).toMatchObject({ undecoded: 'variant 9 of a payload', end: record.length - AFTER.length })
      }),
    )
  })

  it('searches for the end of a transaction of a known variant in another form', () => {
    const transaction = Buffer.concat([transactionOf(7), Uint8Array.of(1, 2, 3)])
    expect(read(recordOf(transaction))).toMatchObject({ undecoded: 'another form than their variants have' })
  })

  // A search that hashes from the beginning for each offset gives up on these.
  it.each([
    ['zeros', (at: number) => (at % 4_096 === 4_095 ? 200 : 0)],
    ['ones', () => 1],
    ['pairs that look like infos', (at: number) => at % 2],
    ['noise of small bytes', (at: number) => (at * at) % 5],
  ])('finds the end behind 41 kB of %s', (_, byteAt) => {
    const content = Uint8Array.from({ length: 41_000 }, (_, at) => byteAt(at))
    const transaction = unknownPayload(content)
    expect(read(recordOf(transaction)).transaction.length).toBe(transaction.length)
    const argument = new ByteWriter().u8(0).bytes(new Uint8Array(40)).u8(2).bytes(new Uint8Array(32).fill(1))
    argument.string('account').string('call').uleb128(0).uleb128(1).byteString(content)
    argument.bytes(new Uint8Array(24)).u8(4).u8(0).byteString(new Uint8Array(32)).byteString(new Uint8Array(64))
    expect(read(recordOf(argument.toBytes()))).toMatchObject({ undecoded: undefined })
  })

  it('gives up on a damaged record in which an info seems to begin at every byte', () => {
    const record = unknownPayload(Uint8Array.from({ length: 1 << 20 }, (_, at) => at % 2))
    const thrown = expect.objectContaining({
      code: 'verification_failed',
      message: expect.stringContaining('byte 0 (it was not decoded: variant 9 of a payload): the file is damaged'),
    })
    expect(() => readTransactionRecord(new ByteReader(record), hasher, false)).toThrow(thrown)
  })

  it('searches in all records of a file within one budget, which ordinary records never use up', () => {
    const readIn = (budget: SearchBudget, record: Uint8Array) =>
      readTransactionRecord(new ByteReader(record), hasher, false, budget)
    const ordinary = new SearchBudget()
    const random = createRandom(5)
    for (let count = 0; count < 2_000; count++) {
      expect(readIn(ordinary, recordOf(unknownPayload(random.bytes(200)))).undecoded).toBeDefined()
    }
    const hostile = recordOf(unknownPayload(Uint8Array.from({ length: 30_000 }, (_, at) => at % 2)))
    const budget = new SearchBudget()
    let found = 0
    const readAll = () => {
      for (; found < 100; found++) readIn(budget, hostile)
    }
    expect(readAll).toThrow(/no TransactionInfo/)
    expect(found).toBeGreaterThan(0)
    expect(found).toBeLessThan(10)
  })

  it('refuses cuts and changes of the transaction with an error of its own', () => {
    fc.assert(
      fc.property(
        someSeed,
        someAuxiliary,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (seed, auxiliary, at, change) => {
          const transaction = transactionOf(seed)
          const record = recordOf(transaction, auxiliary)
          const changed = Buffer.from(record)
          changed[at % transaction.length]! ^= change
          const cut = record.subarray(0, at % (record.length - AFTER.length))
          for (const bytes of [changed, cut]) {
            try {
              readTransactionRecord(new ByteReader(bytes), hasher, auxiliary.hasAuxiliary)
              expect.fail('a damaged record was read')
            } catch (error) {
              expect(isLedgerStateError(error, 'verification_failed', 'invalid_bcs'), String(error)).toBe(true)
            }
          }
        },
      ),
    )
  })
})
