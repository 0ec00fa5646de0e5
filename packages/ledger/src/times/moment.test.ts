import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import { createRandom } from '@ledger-state/testing/random'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createAsyncLedger } from '../async/async-ledger.js'
import { createLedger } from '../state/create-ledger.js'
import { firstVersionOf, lastVersionOf, parseMoment } from './moment.js'

it('a moment is a version in decimal, or a time as RFC 3339', () => {
  expect(parseMoment('1735689600')).toEqual({ version: 1_735_689_600n })
  expect(parseMoment('2025-01-01T00:00:00Z')).toEqual({ timestampUsec: 1_735_689_600_000_000n })
  expect(parseMoment('2025-01-01T01:00:00+01:00')).toEqual({ timestampUsec: 1_735_689_600_000_000n })
  const refusal = (code: string) => expect.objectContaining({ code })
  expect(() => parseMoment('now')).toThrow(refusal('invalid_u64'))
  expect(parseMoment('2025-01-01')).toEqual({ timestampUsec: 1_735_689_600_000_000n })
  expect(() => parseMoment('-1')).toThrow(refusal('invalid_timestamp'))
})

it('a moment has a first version at or after it, and a last one at or before it', async () => {
  const times = fc.uniqueArray(fc.bigInt(1n, 30n), { minLength: 1, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(times, fc.bigInt(0n, 35n), async (drawn, timestampUsec) => {
      const ordered = drawn.sort((a, b) => Number(a - b))
      const engine = createMemoryEngine()
      for (const [at, time] of ordered.entries()) {
        const block = { height: BigInt(at), epoch: 0n, timestampUsec: time }
        await engine.commit([{ version: BigInt(at), block, writes: [] }], { chainId: 4 })
      }
      const ledger = createLedger(engine)
      const before = ordered.filter((time) => time < timestampUsec).length
      expect(firstVersionOf(ledger, { timestampUsec })).toBe(BigInt(before))
      const until = ordered.filter((time) => time <= timestampUsec).length
      const last = () => lastVersionOf(ledger, { timestampUsec })
      if (until === 0) expect(last).toThrow(expect.objectContaining({ code: 'version_pruned' }))
      else expect(last()).toBe(BigInt(until - 1))
    }),
  )
})

it('a time of the oldest block has the oldest version; the first version at an earlier time is not known', async () => {
  const engine = createMemoryEngine()
  for (let version = 0n; version < 10n; version++) {
    const block = { height: version, epoch: 0n, timestampUsec: 10n * version }
    await engine.commit([{ version, block, writes: [] }], { chainId: 4 })
  }
  await engine.prune(5n)
  const first = (timestampUsec: bigint) => firstVersionOf(createLedger(engine), { timestampUsec })
  expect([0n, 30n, 49n].map(first)).toEqual([0n, 0n, 0n])
  expect([50n, 51n, 60n, 90n, 91n].map(first)).toEqual([5n, 6n, 6n, 9n, 10n])
  expect(() => first(10n ** 18n)).toThrow(expect.objectContaining({ code: 'version_not_found' }))
})

it('a time up to the latest block has its first version after one round over an engine on other machines', async () => {
  const engine = createMemoryEngine()
  for (let version = 0n; version < 10n; version++) {
    const block = { height: version, epoch: 0n, timestampUsec: 10n * version }
    await engine.commit([{ version, block, writes: [] }], { chainId: 4 })
  }
  const state = delayState(engineToAsync(engine), { random: createRandom(1) })
  const ledger = createAsyncLedger(state)
  // Whether a ledger keeps a slice is asked in the first round.
  await ledger.read((one) => one.at().version)
  for (const [timestampUsec, first, rounds] of [
    [40n, 4n, 1],
    [41n, 5n, 1],
    [90n, 9n, 1],
    [91n, 10n, 2],
  ] as const) {
    const before = state.rounds
    expect(await ledger.read((one) => firstVersionOf(one, { timestampUsec }))).toBe(first)
    expect([timestampUsec, state.rounds - before]).toEqual([timestampUsec, rounds])
  }
})
