import { Buffer } from 'node:buffer'
import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { readTransaction, UnknownVariantError } from '@ledger-state/proof/transactions'
import { createRandom } from '@ledger-state/testing/random'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RandomTransaction, randomTransaction } from '../../testing/random-transaction.ts'

/** Seeds of random transactions, so that a failure prints a number. */
const someSeed = fc.integer({ min: 1 })

function transactionOf(seed: number): RandomTransaction {
  return randomTransaction(createRandom(seed), seed % 7)
}

/** A decoded value as plain objects: each list as an array, read again. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if (Symbol.iterator in value) return Array.from(value as Iterable<unknown>, plain)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

/** Decodes bytes with all lists in them. Undefined if that fails as it should. */
function decodeAll(bytes: Uint8Array): unknown {
  try {
    return plain(readTransaction(new ByteReader(bytes)))
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    return undefined
  }
}

describe('readTransaction', () => {
  it('reads its own output, to the last byte and no further, also a second time', () => {
    fc.assert(
      fc.property(someSeed, fc.uint8Array({ maxLength: 5 }), (seed, behind) => {
        const { bytes, expected } = transactionOf(seed)
        const reader = new ByteReader(Buffer.concat([bytes, behind]))
        const decoded = readTransaction(reader)
        expect(reader.offset).toBe(bytes.length)
        for (let times = 0; times < 2; times++) expect(plain(decoded)).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  it('refuses every cut', () => {
    fc.assert(
      fc.property(someSeed, (seed) => {
        const { bytes } = transactionOf(seed)
        const step = Math.max(1, Math.floor(bytes.length / 300))
        for (let length = 0; length < bytes.length; length += step) {
          expect(() => readTransaction(new ByteReader(bytes.subarray(0, length)))).toThrow(
            expect.objectContaining({ code: 'invalid_bcs' }),
          )
        }
      }),
      { numRuns: 50 },
    )
  })

  it('reads changed bytes, or refuses them with an error of its own', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255))
    fc.assert(
      fc.property(someSeed, fc.array(change, { minLength: 1, maxLength: 4 }), (seed, changes) => {
        const { bytes } = transactionOf(seed)
        const changed = Uint8Array.from(bytes)
        for (const [at, byte] of changes) changed[at % bytes.length] = byte
        decodeAll(changed)
      }),
      { numRuns: 500 },
    )
  })

  it('refuses noise with an error of its own', () => {
    const noise = fc.uint8Array({ maxLength: 300 })
    fc.assert(fc.property(fc.nat(7), noise, (variant, bytes) => void decodeAll(Uint8Array.of(variant, ...bytes))))
  })

  it('names a variant that it does not know', () => {
    const sender = [...new Uint8Array(40)]
    for (const [bytes, variant] of [
      [[7], 'variant 7 of a transaction'],
      [[0, ...sender, 6], 'variant 6 of a payload'],
      [[0, ...sender, 1, 0], 'variant 1 of a payload'],
      [[0, ...sender, 4, 1], 'variant 1 of a versioned payload'],
      [[0, ...sender, 4, 0, 3], 'variant 3 of an executable'],
      [[0, ...sender, 4, 0, 2, 1], 'variant 1 of the configuration of a payload'],
      [[4, 2], 'variant 2 of a validator transaction'],
      [[5, 2], 'variant 2 of extended block metadata'],
      [[6, 0x80, 1], 'variant 128 of a block epilogue'],
    ] as const) {
      const read = () => readTransaction(new ByteReader(Uint8Array.from(bytes)))
      expect(read).toThrow(UnknownVariantError)
      expect(read).toThrow(expect.objectContaining({ code: 'invalid_bcs', variant }))
    }
  })

  it('refuses a list that claims more items than there are bytes, without room for them', () => {
    const head = [0, ...new Uint8Array(40), 0, 0]
    const claimed = [0xff, 0xff, 0xff, 0xff, 0x07]
    expect(() => readTransaction(new ByteReader(Uint8Array.from([...head, ...claimed])))).toThrow(/unexpected end/)
  })

  it('refuses types that are nested too deeply for the stack', () => {
    const nested = new Uint8Array(100_000).fill(6)
    const head = [0, ...new Uint8Array(40), 0, 0, 1]
    expect(() => readTransaction(new ByteReader(Uint8Array.from([...head, ...nested])))).toThrow(/levels deep/)
  })
})
