import { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import { AccumulatorFrontier, LedgerHasher } from '@ledger-state/proof'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { restPage, SyntheticChain } from '../../testing/synthetic-chain.ts'
import { proveRestPage } from '../proof/page-proof.js'
import { type RestItem, readRestPage } from './rest-page.js'

const chain = new SyntheticChain({ blocks: 10 })
const hasher = new LedgerHasher()
const COUNT = 20
const page = Buffer.from(restPage(chain, 0, COUNT))

function parse(body: Buffer): RestItem[] {
  const page = { body, start: 0n, url: 'page', verify: true }
  return readRestPage(page, proveRestPage(page, hasher))
}

/** Whether each item since version 0 continues the accumulator of the ledger. */
function isOfOneLedger(items: readonly RestItem[]): boolean {
  const frontier = new AccumulatorFrontier(hasher, 'TransactionAccumulator')
  return items.every(({ leaf, accumulatorRoot }) => {
    frontier.append(leaf)
    return Buffer.compare(frontier.root(), accumulatorRoot) === 0
  })
}

describe('a page of a node', () => {
  it('reads versions, writes and commitments', () => {
    const items = parse(page)
    expect(items.map(({ version }) => version)).toEqual(chain.expected.slice(0, COUNT).map(({ version }) => version))
    for (const [at, { leaf, writes }] of items.entries()) {
      expect(leaf).toEqual(chain.leaf(at))
      expect(writes.length).toBe(chain.expected[at]!.writes.length)
    }
    expect(isOfOneLedger(items)).toBe(true)
  })

  it('finds every flipped bit, or the accumulator does', () => {
    fc.assert(
      fc.property(fc.nat(page.length * 8 - 1), (bit) => {
        const flipped = Buffer.from(page)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        try {
          expect(isOfOneLedger(parse(flipped))).toBe(false)
        } catch (error) {
          expect(isLedgerStateError(error, 'verification_failed', 'source_failed')).toBe(true)
        }
      }),
      { numRuns: isSlowRun ? 200 : 60 },
    )
  })

  it('throws nothing but its own errors, whatever the bytes, naming the version', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
        try {
          parse(Buffer.from(noise))
        } catch (error) {
          expect(isLedgerStateError(error, 'verification_failed', 'source_failed')).toBe(true)
          expect((error as Error).message).toMatch(/^page, version \d+: /)
        }
      }),
    )
  })
})
