import { bytesToHexDigits, isLedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectHash, type HashName, LedgerHasher } from './ledger-hasher.js'

/** SHA3-256 of `APTOS::LedgerInfo`, computed by another implementation. */
const SEED_OF_LEDGER_INFO = '98274d3a1dfd01624eb9df4f2fc4e34fa24f18334a0091ec93d0ea833e1fbaa2'

it('hashes long bytes in steps of 64 KiB', () => {
  const hasher = new LedgerHasher()
  for (const length of [0, 100, 65_536, 65_537, 200_000]) {
    const bytes = Uint8Array.from({ length }, (_, at) => at % 251)
    const steps = hasher.hashInSteps('WriteSet', bytes)
    let count = 1
    let step = steps.next()
    for (; !step.done; step = steps.next()) count++
    expect(step.value).toEqual(hasher.hash('WriteSet', bytes))
    expect(count).toBe(Math.max(1, Math.ceil(length / 65_536)))
  }
})

describe('a bulk LedgerHasher', () => {
  const plain = new LedgerHasher('DIEM::')
  const bulk = new LedgerHasher('DIEM::', { isBulk: true })
  const names = ['StateKey', 'StateValue', 'TransactionAccumulator', 'SparseMerkleInternal'] as const

  it('has the hashes of another one, of bytes of every length, with names in any order', () => {
    const lengths = fc.oneof(fc.nat(700), fc.integer({ min: 4_060, max: 4_200 }))
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...names), lengths, fc.nat(255)), { maxLength: 20 }), (asked) => {
        for (const [name, length, fill] of asked) {
          const bytes = new Uint8Array(length).fill(fill)
          const target = new Uint8Array(34)
          bulk.hashInto(name, bytes, target, 1)
          expect(bytesToHexDigits(target)).toBe(`00${bytesToHexDigits(plain.hash(name, bytes))}00`)
          const [left, right] = [plain.hash(name, bytes), plain.seed(name)]
          expect(bytesToHexDigits(bulk.hash(name, bytes))).toBe(bytesToHexDigits(left))
          expect(bulk.hashPair(name, left, right)).toEqual(plain.hashPair(name, left, right))
        }
      }),
    )
  })

  it('has room for the seeds of all names', () => {
    const all: readonly HashName[] = [
      ...(['Transaction', 'TransactionInfo', 'TransactionAccumulator', 'ContractEvent', 'EventAccumulator'] as const),
      ...(['WriteSet', 'StateKey', 'StateValue', 'SparseMerkleLeafNode', 'SparseMerkleInternal'] as const),
      ...(['Ledger2WaypointConverter', 'LedgerInfo'] as const),
    ]
    const fresh = new LedgerHasher('DIEM::', { isBulk: true })
    for (const length of [4_096, 1]) {
      const bytes = new Uint8Array(length)
      for (const name of all) expect(fresh.hash(name, bytes)).toEqual(plain.hash(name, bytes))
    }
  })
})

describe('LedgerHasher', () => {
  const hasher = new LedgerHasher()

  it('has the seed that precedes the messages that validators of the Aptos networks sign', () => {
    expect(bytesToHexDigits(hasher.seed('LedgerInfo'))).toBe(SEED_OF_LEDGER_INFO)
    expect(bytesToHexDigits(new LedgerHasher('DIEM::').seed('LedgerInfo'))).not.toBe(SEED_OF_LEDGER_INFO)
  })

  it('writes the hash that it returns, of short and of long bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 31, 4_096, 4_097, 10_000), fc.nat(255), fc.nat(5), (length, fill, at) => {
        const bytes = new Uint8Array(length).fill(fill)
        const target = new Uint8Array(40)
        hasher.hashInto('StateValue', bytes, target, at)
        expect(bytesToHexDigits(target.subarray(at, at + 32))).toBe(bytesToHexDigits(hasher.hash('StateValue', bytes)))
      }),
    )
  })

  it('gives the hash after each of several pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), (pieces) => {
        const running = hasher.begin('Transaction')
        let whole = new Uint8Array(0)
        for (const piece of pieces) {
          running.update(piece)
          whole = Uint8Array.of(...whole, ...piece)
          for (let times = 0; times < 2; times++) {
            expect(bytesToHexDigits(running.digest())).toBe(bytesToHexDigits(hasher.hash('Transaction', whole)))
          }
        }
      }),
    )
  })

  it('hashes a pair as the bytes of both, also into one of the two', () => {
    const [left, right] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    const both = new Uint8Array([...left, ...right])
    const expected = bytesToHexDigits(hasher.hash('SparseMerkleInternal', both))
    expect(bytesToHexDigits(hasher.hashPair('SparseMerkleInternal', left, right))).toBe(expected)
    hasher.hashPairInto('SparseMerkleInternal', left, right, left, 0)
    expect(bytesToHexDigits(left)).toBe(expected)
  })
})

describe('expectHash', () => {
  it('names the differences', () => {
    const [one, two] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    expectHash('the root', one, one)
    try {
      expectHash('the root', one, two)
      expect.fail('two hashes are one')
    } catch (error) {
      expect(isLedgerStateError(error, 'verification_failed')).toBe(true)
      expect(String(error)).toContain(`the root is ${'02'.repeat(32)}, but the data hashes to ${'01'.repeat(32)}`)
    }
  })
})
