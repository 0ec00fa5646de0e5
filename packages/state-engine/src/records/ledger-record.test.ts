import { Buffer } from 'node:buffer'
import { U64_MAX } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { RecordBuilder } from '../bytes/record.js'
import { decodeLedgerRecord, encodeLedgerRecord, type LedgerRecord } from './ledger-record.js'

function record(chainId: bigint): LedgerRecord {
  const [latestBlock, oldestBlock] = [5n, 2n].map((at) => ({ height: at, epoch: at + 1n, timestampUsec: at + 2n }))
  return {
    ledger: { chainId, latestVersion: 9n, latestBlock: latestBlock!, oldestVersion: 4n, oldestBlock: oldestBlock! },
    base: { version: 1n, complete: true },
    walFile: 10,
    nextCommit: 11,
    nextFile: 12,
    files: 13,
    blocks: 14,
    logEnd: { fileNumber: 15, length: 16, nextCommit: 17, checksum: 18 },
  }
}

function encode(chainId: bigint): Buffer {
  return Buffer.from(encodeLedgerRecord(new RecordBuilder(), record(chainId)))
}

it('the ledger record is laid out to the byte', () => {
  const numbers = [7, 9, 5, 6, 7, 4, 2, 3, 4, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18]
  const hex = numbers.map((number) => number.toString(16).padStart(16, '0')).join('')
  expect(encode(7n).subarray(0, -4).toString('hex')).toBe(`${hex}01`)
})

it.each([0n, 1n, 256n, 2n ** 53n + 1n, U64_MAX])(
  'the ledger record is read back as it was written: chain %s',
  (chainId) => {
    expect(decodeLedgerRecord(encode(chainId))).toEqual(record(chainId))
  },
)

it('the ledger record is damaged if it has another length, or a flipped bit', () => {
  const longer = new RecordBuilder().begin().bytes(encode(1n)).seal(0)
  expect(() => decodeLedgerRecord(longer)).toThrow(/the ledger record has 157 bytes/)
  const flipped = encode(1n)
  flipped[20]! ^= 1
  expect(() => decodeLedgerRecord(flipped)).toThrow(/the ledger record does not match its checksum/)
})
