import { Buffer } from 'node:buffer'
import { ByteWriter, parseAddress, SizedCache } from '@ledger-state/core'
import { readOutcome } from '@ledger-state/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readKeptTransaction } from './read-kept-transaction.js'

const SENDER = parseAddress('0xabc1')
const OBJECT = parseAddress(`0x${'9'.repeat(64)}`)
const HASH = new Uint8Array(32).fill(5)

/** An info with a status, whose bytes follow its tag. */
function infoOf(status: readonly number[]): Uint8Array {
  const writer = new ByteWriter().u8(0).u64(12n).bytes(Uint8Array.from(status)).bytes(HASH)
  return writer.bytes(new Uint8Array(64).fill(6)).bool(false).bool(false).u8(0).toBytes()
}

function keptOf(transaction: Uint8Array, status: readonly number[] = [0]) {
  const bytes = Uint8Array.from([...transaction, ...infoOf(status)])
  const outcome = readOutcome(bytes, transaction.length)
  const kept = readKeptTransaction(transaction, outcome)
  const names = new SizedCache<string>(10_000)
  for (let times = 0; times < 2; times++) {
    expect(readKeptTransaction(transaction, outcome, names)).toEqual(kept)
  }
  return kept
}

function userTransaction(payload: ByteWriter): Uint8Array {
  return new ByteWriter().u8(0).bytes(SENDER).u64(3n).bytes(payload.toBytes()).u64(1n).toBytes()
}

/** Writes a call of an entry function, starting with the address of its module. */
function call(writer: ByteWriter, module = 'coin', name = 'transfer'): ByteWriter {
  return writer.bytes(OBJECT).string(module).string(name).uleb128(0).uleb128(0)
}

const FUNCTION = `0x${'9'.repeat(64)}::coin::transfer`

const ABC1 = `${'0'.repeat(60)}abc1`
const CALL = `${'0'.repeat(63)}10d6170746f735f6163636f756e74087472616e736665720000`
const GAS_AND_CHAIN = 'd0070000000000006400000000000000630000000000000004'

describe('the entry function of a user transaction', () => {
  it.each([
    ['a call', call(new ByteWriter().uleb128(2)), FUNCTION],
    ['a call by several signers', call(new ByteWriter().uleb128(3).bytes(SENDER).u8(1).uleb128(0)), FUNCTION],
    ['a call by several signers that is kept on chain', new ByteWriter().uleb128(3).bytes(SENDER).u8(0), undefined],
    ['a call without a sequence number', call(new ByteWriter().uleb128(4).uleb128(0).uleb128(1)), FUNCTION],
    ['a script without a sequence number', new ByteWriter().uleb128(4).uleb128(0).uleb128(0).string('x'), undefined],
    ['a script', new ByteWriter().uleb128(0).string('code').uleb128(0).uleb128(0), undefined],
    ['a payload of a later chain', call(new ByteWriter().uleb128(9)), undefined],
    ['a call of something that is not a name', call(new ByteWriter().uleb128(2), 'coin"', 'a,b'), undefined],
    ['a call that is cut short', new ByteWriter().uleb128(2).bytes(OBJECT).uleb128(200), undefined],
  ])('is read if it is %s', (_, payload, entryFunction) => {
    const expected = { kind: 'user', hash: HASH, isSuccess: true, sender: SENDER, entryFunction }
    expect(keptOf(userTransaction(payload))).toEqual(expected)
  })

  // Bytes as @aptos-labs/ts-sdk 5 encodes them: sender 0xabc1, sequence number 3, gas 2,000 at 100, chain 4.
  it.each([
    ['TransactionPayloadEntryFunction', `02${CALL}`, '0x1::aptos_account::transfer'],
    ['TransactionPayloadScript', '00030102030000', undefined],
    ['TransactionPayloadMultiSig', `03${ABC1}0100${CALL}`, '0x1::aptos_account::transfer'],
    ['TransactionPayloadMultiSig of a payload that is kept on chain', `03${ABC1}00`, undefined],
    ['TransactionExecutableEntryFunction', `040001${CALL}00000107${'0'.repeat(14)}`, '0x1::aptos_account::transfer'],
    ['TransactionExecutableScript', `04000003010203000000000107${'0'.repeat(14)}`, undefined],
    ['TransactionExecutableEmpty', `0400020001${ABC1}00`, undefined],
  ])('is read of the %s of the public SDK', (_, payload, entryFunction) => {
    const transaction = Buffer.from(`00${ABC1}0300000000000000${payload}${GAS_AND_CHAIN}`, 'hex')
    expect(keptOf(transaction)).toMatchObject({ sender: SENDER, entryFunction })
  })

  it('is looked for in any bytes without a fault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 33, maxLength: 200 }), (tail) => {
        const kept = keptOf(Uint8Array.of(0, ...tail))
        expect(kept).toMatchObject({ kind: 'user', sender: tail.subarray(0, 32) })
      }),
    )
  })
})

it.each([
  [1, 'genesis'],
  [2, 'block_metadata'],
  [3, 'state_checkpoint'],
  [4, 'validator'],
  [5, 'block_metadata'],
  [6, 'block_epilogue'],
  [7, 'other'],
  [200, 'other'],
] as const)('a transaction of variant %i is %s', (variant, kind) => {
  const bytes = Uint8Array.of(variant, ...new Uint8Array(80))
  expect(keptOf(bytes)).toEqual({ kind, hash: HASH, isSuccess: true })
})

it.each([
  ['success', [0], true],
  ['out of gas', [1], false],
  ['an abort in a script', [2, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0], false],
  ['another failure', [4, 0], false],
])('the status %s', (_, status, isSuccess) => {
  expect(keptOf(userTransaction(call(new ByteWriter().uleb128(2))), status)).toMatchObject({ isSuccess, hash: HASH })
})
