import { ADDRESS_LENGTH, addressToShortHex, parseAddress, SizedCache } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesToTransaction,
  isFunctionName,
  type KeptTransaction,
  TRANSACTION_KINDS,
  transactionToBytes,
} from './kept-transaction.js'
import { isOwnKey, isTransactionKey, TRANSACTIONS_KEY, transactionKey } from './own-keys.js'

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const address = fc
  .uint8Array({ maxLength: ADDRESS_LENGTH })
  .map((tail) => Uint8Array.from([...new Uint8Array(ADDRESS_LENGTH - tail.length), ...tail]))
const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_$]{0,40}$/)
const entryFunction = fc
  .tuple(address, name, name)
  .map(([at, module, called]) => `${addressToShortHex(at)}::${module}::${called}`)

const kept: fc.Arbitrary<KeptTransaction> = fc
  .record({
    kind: fc.constantFrom(...TRANSACTION_KINDS),
    hash: bytes32,
    isSuccess: fc.boolean(),
    sender: bytes32,
    entryFunction: fc.option(entryFunction, { nil: undefined }),
  })
  .map(({ kind, sender, entryFunction: called, ...rest }) => ({
    kind,
    ...rest,
    ...(kind === 'user' && { sender }),
    ...(called !== undefined && { entryFunction: called }),
  }))

describe('a kept transaction', () => {
  it('is read from the bytes that it is kept in, which are the same where its function was encoded before', () => {
    const functions = new SizedCache<Uint8Array>(10_000)
    fc.assert(
      fc.property(kept, (transaction) => {
        const bytes = transactionToBytes(transaction)
        expect(bytesToTransaction(bytes)).toEqual(transaction)
        for (let times = 0; times < 2; times++) expect(transactionToBytes(transaction, functions)).toEqual(bytes)
      }),
    )
  })

  it('takes few bytes', () => {
    const hash = new Uint8Array(32).fill(7)
    const sender = parseAddress('0xab')
    const transfer = { kind: 'user', hash, isSuccess: true, sender, entryFunction: '0x1::coin::transfer' } as const
    expect(transactionToBytes(transfer).length).toBe(1 + 32 + 32 + 2 + 'coin::transfer'.length)
    expect(transactionToBytes({ kind: 'state_checkpoint', hash, isSuccess: true }).length).toBe(33)
  })

  it('is not read from bytes that it cannot have: whatever is read has the same bytes, and a function that is a name', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), kept, fc.nat(), fc.nat(255), (any, transaction, at, byte) => {
        const changed = transactionToBytes(transaction)
        changed[at % changed.length] = byte
        for (const bytes of [any, changed, changed.subarray(0, at % (changed.length + 1))]) {
          const read = bytesToTransaction(bytes)
          if (read) expect(bytesToTransaction(transactionToBytes(read))).toEqual(read)
          if (read?.entryFunction) expect(isFunctionName(read.entryFunction)).toBe(true)
        }
      }),
    )
    expect(bytesToTransaction(new Uint8Array(0))).toBeUndefined()
    expect(bytesToTransaction(Uint8Array.of(0x11, ...new Uint8Array(31)))).toBeUndefined()
    expect(bytesToTransaction(Uint8Array.of(0x11, ...new Uint8Array(33)))).toBeUndefined()
    expect(bytesToTransaction(Uint8Array.of(0x51, ...new Uint8Array(32)))).toBeUndefined()
    expect(bytesToTransaction(Uint8Array.of(0x0f, ...new Uint8Array(32)))).toBeUndefined()
  })

  it.each(['0x1::a', '1::a::b', '0x1::a::b::c', '0x1::a::b"', '0x1::a::b,c', '0xA::a::b', '0x::a::b', '0x1::9::b'])(
    'has no function of the name %s',
    (text) => {
      expect(isFunctionName(text)).toBe(false)
      const hash = new Uint8Array(32)
      const given = { kind: 'other', hash, isSuccess: false } as const
      expect(bytesToTransaction(transactionToBytes({ ...given, entryFunction: text }))).toEqual(given)
    },
  )
})

it('keys of transactions are own keys of the store, and neighbouring versions have different ones', () => {
  const keys = new Set<string>()
  for (let version = 1_000n; version < 1_064n; version++) {
    const key = transactionKey(version)
    expect(isTransactionKey(key) && isOwnKey(key)).toBe(true)
    keys.add(key.join())
  }
  expect(keys.size).toBe(64)
  expect(transactionKey(1_064n)).toBe(transactionKey(1_000n))
  expect(isTransactionKey(TRANSACTIONS_KEY)).toBe(false)
  expect(isOwnKey(TRANSACTIONS_KEY)).toBe(true)
})
