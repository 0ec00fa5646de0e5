import { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SYNTHETIC_CHAIN_ID, SyntheticChain } from '../../testing/synthetic-chain.ts'
import { parseGenesis } from './genesis-transaction.js'

const chain = new SyntheticChain({ blocks: 0 })
const blob = chain.genesisBlob

describe('parseGenesis', () => {
  it('reads chain id, block and writes', () => {
    const { record, chainId } = parseGenesis(blob)
    expect(chainId).toBe(SYNTHETIC_CHAIN_ID)
    expect(record).toMatchObject({ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n } })
    expect(record.writes.map(([key]) => Buffer.from(key))).toEqual(
      chain.expected[0]!.writes.map(([key]) => Buffer.from(key)),
    )
  })

  it('refuses a genesis without a chain id', () => {
    expect(() => parseGenesis(Uint8Array.of(1, 0, 0, 0, 0))).toThrow(/ChainId/)
  })

  it('refuses every cut and other transactions with its own error', () => {
    for (let length = 0; length < blob.length; length++) {
      expect(() => parseGenesis(blob.subarray(0, length))).toThrow(expect.objectContaining({ code: 'invalid_genesis' }))
    }
    expect(() => parseGenesis(Uint8Array.of(0, 1, 2))).toThrow(/a genesis transaction has 1 at byte 0/)
  })

  it('throws nothing but its own error, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        try {
          parseGenesis(Uint8Array.of(1, 0, 0, ...noise))
        } catch (error) {
          expect(isLedgerStateError(error, 'invalid_genesis')).toBe(true)
        }
      }),
    )
  })
})
