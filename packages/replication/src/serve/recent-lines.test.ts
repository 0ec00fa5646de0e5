import { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linesOf, RecentLines } from './recent-lines.js'

function versions(first: bigint, count: number): VersionWrites[] {
  return Array.from({ length: count }, (_, at) => {
    const version = first + BigInt(at)
    const block = { height: version, epoch: 0n, timestampUsec: version }
    return { version, block, writes: [[Buffer.from('k'), Buffer.alloc(9_000, Number(version % 250n))]] }
  })
}

const toText = (pieces: Iterable<{ readonly text: string }>) => [...pieces].map(({ text }) => text).join('')

it('recent lines match the store, whatever version each replica has and whatever is kept', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(100), { maxLength: 4 })), { maxLength: 8 }),
      fc.constantFrom(0, 30_000, 200_000, undefined),
      async (rounds, kept) => {
        const engine = createMemoryEngine()
        await engine.commit(versions(0n, 2), { chainId: 1 })
        const recent = new RecentLines(engine, kept)
        let atEnd = 2n
        for (const [count, places] of rounds) {
          const { latestVersion } = engine.ledger!
          await engine.commit(versions(latestVersion + 1n, count), { chainId: 1 })
          const last = engine.ledger!.latestVersion
          for (const first of [atEnd, atEnd, ...places.map((place) => BigInt(place))]) {
            if (first < 1n || first > last) continue
            expect(toText(recent.linesOf(first, last)) === toText(linesOf(engine, first, last))).toBe(true)
          }
          atEnd = last + 1n
        }
      },
    ),
    { numRuns: 50 },
  )
})

it('recent lines are not those of versions that were cut off', async () => {
  const engine = createMemoryEngine()
  await engine.commit(versions(0n, 30), { chainId: 1 })
  const recent = new RecentLines(engine)
  toText(recent.linesOf(1n, 29n))
  await engine.truncateTo(9n)
  expect(toText(recent.linesOf(8n, 9n))).toBe(toText(linesOf(engine, 8n, 9n)))
  const others = versions(10n, 30).map((one) => ({
    ...one,
    writes: [[Buffer.from('other'), one.writes[0]![1]] as const],
  }))
  await engine.commit(others, { chainId: 1 })
  for (const first of [8n, 10n, 20n]) {
    expect(toText(recent.linesOf(first, 39n))).toBe(toText(linesOf(engine, first, 39n)))
  }
})
