import { bytesToHexDigits } from '@ledger-state/core'
import { MAX_KEY_LENGTH } from '@ledger-state/engine'
import { decodeStateKey } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  affectedAccountKey,
  canNoteDeletion,
  epochEndingKey,
  epochOfKey,
  eventStreamKey,
  eventTypeKey,
  isOwnKey,
  isSliceKey,
  isTransactionKey,
  isWholeTransactionKey,
  KEY_FAMILIES,
  type KeyFamily,
  memberIdOf,
  memberKey,
  memberKindOf,
  nonceKey,
  retainedBlockKey,
  retainedIndexKey,
  sequenceNumberKey,
  sliceDeletionKey,
  sliceTypeKey,
  sliceTypeNumberOf,
  transactionBlockKey,
  transactionHashKey,
  transactionKey,
  versionOfKey,
} from './own-keys.js'

const families = Object.entries<KeyFamily>(KEY_FAMILIES)
const u64s = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const ids = fc.uint8Array({ minLength: 32, maxLength: 32 })

/** Names of the families to which a key belongs. */
function familiesOf(key: Uint8Array): string[] {
  return families.flatMap(
    ([
      name,
      {
        prefix,
        suffixLength: [least, greatest],
      },
    ]) => {
      const isOfPrefix = prefix.every((byte, at) => key[at] === byte)
      const rest = key.length - prefix.length
      return isOfPrefix && rest >= least && rest <= greatest ? [name] : []
    },
  )
}

describe('the families of own keys', () => {
  it('do not overlap', () => {
    for (const [name, one] of families) {
      for (const [other, { prefix, suffixLength }] of families) {
        if (name === other || bytesToHexDigits(prefix) !== bytesToHexDigits(one.prefix)) continue
        const areApart = suffixLength[1] < one.suffixLength[0] || one.suffixLength[1] < suffixLength[0]
        expect(areApart, `${name} and ${other}`).toBe(true)
      }
    }
  })

  it('have keys that no chain writes', () => {
    for (const [, { prefix }] of families) {
      expect(isOwnKey(prefix)).toBe(true)
      expect(() => decodeStateKey(prefix)).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
    }
  })

  it('have the keys that are made for them, and each key is read as it was made', () => {
    fc.assert(
      fc.property(u64s, ids, fc.nat(2 ** 32 - 1), fc.uint8Array({ maxLength: 200 }), (number, id, type, key) => {
        expect(familiesOf(epochEndingKey(number))).toEqual(['epochEnding'])
        expect(epochOfKey(epochEndingKey(number))).toBe(number)
        expect(familiesOf(transactionKey(number))).toEqual(['transaction'])
        expect(isTransactionKey(transactionKey(number))).toBe(true)
        for (const [name, made] of [
          ['transactionBlock', transactionBlockKey(number)],
          ['transactionHash', transactionHashKey(id)],
          ['sequenceNumber', sequenceNumberKey(id)],
          ['nonce', nonceKey(id)],
          ['affectedAccount', affectedAccountKey(id)],
          ['eventStream', eventStreamKey(id, number)],
          ['eventType', eventTypeKey(key)],
          ['retainedBlock', retainedBlockKey(number)],
          ['retainedIndex', retainedIndexKey(transactionHashKey(id), number)],
          ['retainedIndex', retainedIndexKey(eventStreamKey(id, 7n), number)],
        ] as const) {
          expect(familiesOf(made)).toEqual([name])
          expect([isWholeTransactionKey(made), isTransactionKey(made)]).toEqual([true, false])
          if (name.startsWith('retained')) expect(versionOfKey(made)).toBe(number)
        }
        expect(isWholeTransactionKey(transactionKey(number))).toBe(false)
        for (const kind of ['account', 'table'] as const) {
          const made = memberKey(kind, id)
          expect(familiesOf(made)).toEqual([kind === 'account' ? 'sliceAccount' : 'sliceTable'])
          expect([memberKindOf(made), memberIdOf(made)]).toEqual([kind, id])
        }
        expect(familiesOf(sliceTypeKey(type))).toEqual(['sliceType'])
        expect(sliceTypeNumberOf(sliceTypeKey(type))).toBe(type)
        expect(familiesOf(sliceDeletionKey(key)!)).toEqual(['sliceDeletion'])
        for (const made of [memberKey('table', id), sliceTypeKey(type), sliceDeletionKey(key)!]) {
          expect(isSliceKey(made)).toBe(true)
        }
      }),
    )
    expect([memberKindOf(epochEndingKey(0n)), sliceTypeNumberOf(epochEndingKey(0n))]).toEqual([undefined, undefined])
  })

  it('have deletions of keys as long as a store takes them', () => {
    const longest = new Uint8Array(MAX_KEY_LENGTH - 2)
    expect(sliceDeletionKey(longest)).toHaveLength(MAX_KEY_LENGTH)
    const longer = new Uint8Array(MAX_KEY_LENGTH - 1)
    expect([canNoteDeletion(longer), sliceDeletionKey(longer)]).toEqual([false, undefined])
  })

  it('have values that are read as they were written', () => {
    const { transaction, sliceAccount, slice, sliceLeftOut, sliceType, checkpoint, stateRoot, transactions } =
      KEY_FAMILIES
    const back = <Value>({ codec }: KeyFamily<Value>, value: Value): void => {
      const bytes = codec.encode(value)
      expect(bytesToHexDigits(codec.encode(codec.decode(bytes)))).toBe(bytesToHexDigits(bytes))
    }
    const hash = new Uint8Array(32).fill(7)
    back(transaction, { kind: 'genesis', hash, isSuccess: true })
    back(sliceAccount, { reason: 'owner', isWhole: true, since: 9n, valueType: undefined })
    back(slice, { digest: hash, accounts: 1, tables: 2, types: ['0x1::coin::Coin'] })
    back(sliceLeftOut, { keys: 1, bytes: 2, writes: 3, writtenBytes: 4 })
    back(sliceType, { kind: 'vector', element: { kind: 'u8' } })
    back(checkpoint, { version: 5n, transactionInfo: hash, siblings: [hash], ledgerInfo: hash })
    back(stateRoot, hash)
    back(transactions, true)
  })
})
