import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { branchOf, isSameLedger, type LedgerSummary, type Truncation } from '../ports/state-port.js'
import { addTruncation, expectNotTruncated, nextTruncation } from './truncations.js'

const BLOCK = { height: 0n, epoch: 0n, timestampUsec: 0n }

function ledgerWith(truncations: readonly Truncation[] | undefined): LedgerSummary {
  const ledger = { chainId: 1n, latestVersion: 99n, latestBlock: BLOCK, oldestVersion: 0n, oldestBlock: BLOCK }
  return truncations === undefined ? ledger : { ...ledger, truncations }
}

/** The ledgers before, between and after truncations to these versions. */
function ledgersOf(versions: readonly bigint[]): LedgerSummary[] {
  const ledgers = [ledgerWith(undefined)]
  for (const version of versions) {
    const before = ledgers.at(-1)!
    ledgers.push(ledgerWith(addTruncation(before.truncations ?? [], nextTruncation(before, version))))
  }
  return ledgers
}

function isCut(version: bigint, before: LedgerSummary, now: LedgerSummary): boolean {
  try {
    expectNotTruncated(version, before, now)
    return false
  } catch (error) {
    expect(error).toMatchObject({ code: 'version_truncated', fields: { version } })
    return true
  }
}

describe('the truncations of a ledger', () => {
  const version = fc.bigInt({ min: 0n, max: 40n })

  it('cut all versions that any truncation between two moments cut, and no others if there are few truncations', () => {
    fc.assert(
      fc.property(fc.array(version, { maxLength: 40 }), fc.nat(), fc.nat(), version, (versions, a, b, asked) => {
        const ledgers = ledgersOf(versions)
        const from = a % ledgers.length
        const to = from + (b % (ledgers.length - from))
        const wasCut = versions.slice(from, to).some((cut) => cut < asked)
        const seen = isCut(asked, ledgers[from]!, ledgers[to]!)
        if (versions.length <= 16) expect(seen).toBe(wasCut)
        else if (wasCut) expect(seen).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  it('are at most 16, in ascending order of their numbers and of their versions', () => {
    fc.assert(
      fc.property(fc.array(version, { maxLength: 60 }), (versions) => {
        const ledger = ledgersOf([...versions, ...Array.from({ length: 20 }, (_, at) => 50n + BigInt(at))]).at(-1)!
        const list = ledger.truncations!
        expect(list).toHaveLength(16)
        for (const [at, { number, version }] of list.entries()) {
          if (at === 0) continue
          expect(number).toBeGreaterThan(list[at - 1]!.number)
          expect(version).toBeGreaterThan(list[at - 1]!.version)
        }
        expect(branchOf(ledger)).toBe(versions.length + 20)
      }),
    )
  })

  it('stay as they are where they have the truncation already', () => {
    const list = [
      { number: 1, version: 3n },
      { number: 2, version: 5n },
      { number: 3, version: 8n },
    ]
    for (const known of list) expect(addTruncation(list, known)).toBe(list)
    expect(addTruncation([], list[0]!)).toEqual([list[0]])
    expect(addTruncation([list[0]!], { number: 2, version: 3n })).toEqual([{ number: 2, version: 3n }])
  })

  it('cut nothing where there is no ledger now', () => {
    expect(() => expectNotTruncated(5n, ledgerWith(undefined), undefined)).not.toThrow()
  })
})

describe('branchOf', () => {
  it('is 0 for a ledger without truncations', () => {
    expect([undefined, []].map((list) => branchOf(ledgerWith(list)))).toEqual([0, 0])
  })
})

describe('isSameLedger', () => {
  const ledger = ledgerWith(undefined)

  it('compares window, chain and truncations, and takes no ledger for itself', () => {
    expect(isSameLedger(undefined, undefined)).toBe(true)
    expect(isSameLedger(ledger, undefined)).toBe(false)
    expect(isSameLedger(undefined, ledger)).toBe(false)
    expect(isSameLedger(ledger, { ...ledger })).toBe(true)
    for (const other of [
      { latestVersion: 98n },
      { oldestVersion: 1n },
      { chainId: 2n },
      { truncations: [{ number: 1, version: 3n }] },
    ]) {
      expect(isSameLedger(ledger, { ...ledger, ...other })).toBe(false)
    }
  })
})
