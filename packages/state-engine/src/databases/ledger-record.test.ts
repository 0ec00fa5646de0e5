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
    nextKeyId: 11,
    nextLargeId: 12,
    blocks: 13,
    retired: 14,
    supersededEntries: 15,
    payloadBytes: 16,
  }
}

function encode(chainId: bigint): Buffer {
  return Buffer.from(encodeLedgerRecord(new RecordBuilder(), record(chainId)))
}

/** All but the first byte and the checksum, as stores have it since layout 3. */
const NUMBERS =
  [9, 5, 6, 7, 4, 2, 3, 4, 11, 12, 13, 14, 15, 16, 1].map((number) => number.toString(16).padStart(16, '0')).join('') +
  '01'

it('keeps a chain id of up to 255 in its first byte', () => {
  expect(encode(4n).toString('hex')).toBe(`04${NUMBERS}5edf3db3`)
  expect(encode(255n).subarray(0, -4).toString('hex')).toBe(`ff${NUMBERS}`)
})

it('keeps a larger chain id at its end, and a zero in its first byte', () => {
  expect(encode(256n).subarray(0, -4).toString('hex')).toBe(`00${NUMBERS}0000000000000100`)
  expect(encode(U64_MAX).subarray(0, -4).toString('hex')).toBe(`00${NUMBERS}ffffffffffffffff`)
})

it.each([0n, 1n, 255n, 256n, 2n ** 53n + 1n, U64_MAX])('is read back as it was written: chain %s', (chainId) => {
  expect(decodeLedgerRecord(encode(chainId))).toEqual(record(chainId))
})

it('is damaged if it has another length', () => {
  const longer = new RecordBuilder().begin().bytes(encode(1n)).seal(0)
  expect(() => decodeLedgerRecord(longer)).toThrow(/the ledger record has 126 bytes/)
})
