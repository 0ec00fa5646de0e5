import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { isLedgerStateError } from '@ledger-state/core'
import { LedgerHasher } from '@ledger-state/proof'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SyntheticChain } from '../../testing/synthetic-chain.ts'
import { parseGenesis } from '../wire/genesis-transaction.js'
import { proveGenesis } from './genesis-proof.js'

const chain = new SyntheticChain({ blocks: 0 })
const blob = chain.genesisBlob

describe('proveGenesis', () => {
  it('computes the accumulator root of the ledger', () => {
    const { frontier } = proveGenesis(parseGenesis(blob), new LedgerHasher())
    expect(Buffer.from(frontier).subarray(8)).toEqual(chain.accumulatorRoot(1))
  })

  it('computes another waypoint for every flipped bit that still parses', () => {
    const { waypoint } = proveGenesis(parseGenesis(blob), new LedgerHasher())
    fc.assert(
      fc.property(fc.nat(blob.length * 8 - 1), (bit) => {
        const flipped = Uint8Array.from(blob)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        try {
          expect(proveGenesis(parseGenesis(flipped), new LedgerHasher()).waypoint).not.toBe(waypoint)
        } catch (error) {
          expect(isLedgerStateError(error, 'invalid_genesis')).toBe(true)
        }
      }),
    )
  })

  it.skipIf(!hasSharedData).each(['mainnet', 'testnet', 'devnet'])('computes the published waypoint of %s', (name) => {
    const genesis = parseGenesis(readFileSync(sharedPath(`data/genesis/${name}.genesis.blob`)))
    const published = readFileSync(sharedPath(`data/genesis/${name}.waypoint.txt`), 'utf8').trim()
    expect(proveGenesis(genesis, new LedgerHasher()).waypoint).toBe(published)
  })
})
