import { readFileSync } from 'node:fs'
import { isLedgerStateError } from '@ledger-state/core'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SYNTHETIC_CHAIN_ID, SyntheticChain } from '../testing/synthetic-chain.ts'
import { parseGenesis, proveGenesis } from './genesis.js'
import { LedgerHasher } from './ledger-hasher.js'

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

describe('proveGenesis', () => {
  it('arrives at the accumulator root of the ledger', () => {
    const { frontier } = proveGenesis(parseGenesis(blob), new LedgerHasher())
    expect(Buffer.from(frontier).subarray(8)).toEqual(chain.accumulatorRoot(1))
  })

  it('has another waypoint for every flipped bit that still parses', () => {
    const { text } = proveGenesis(parseGenesis(blob), new LedgerHasher())
    fc.assert(
      fc.property(fc.nat(blob.length * 8 - 1), (bit) => {
        const flipped = Uint8Array.from(blob)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        try {
          expect(proveGenesis(parseGenesis(flipped), new LedgerHasher()).text).not.toBe(text)
        } catch (error) {
          expect(isLedgerStateError(error, 'invalid_genesis')).toBe(true)
        }
      }),
    )
  })

  it.skipIf(!hasSharedData).each(['mainnet', 'testnet', 'devnet'])('computes the published waypoint of %s', (name) => {
    const genesis = parseGenesis(readFileSync(sharedPath(`data/genesis/${name}.genesis.blob`)))
    const published = readFileSync(sharedPath(`data/genesis/${name}.waypoint.txt`), 'utf8').trim()
    expect(proveGenesis(genesis, new LedgerHasher()).text).toBe(published)
  })
})
