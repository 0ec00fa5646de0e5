import { createMemoryEngine } from '@ledger-state/engine'
import { randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import { isRowOfHeld } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.js'
import { ingestSource } from '../commit/ingest-source.js'
import { checkHoldings } from './check-holdings.js'

const seed = testSeed()

it('the check finds an index sound at every version, and finds each row that is missing, wrong or too many', async () => {
  const random = createRandom(seed)
  const { versions } = randomHoldings(random, 40)
  const engine = createMemoryEngine()
  await ingestSource(engine, listedSource(versions))
  for (let version = 0n; version < 40n; version++) {
    expect(await checkHoldings(engine, version), `seed ${seed}`).toMatchObject({ version, problems: [] })
  }
  const rows = [...engine.at().scan(new Uint8Array(0))].filter(({ key }) => isRowOfHeld(key))
  const { key, value } = random.pick(rows)
  const block = { height: 1_000n, epoch: 0n, timestampUsec: 1_000_000n }
  const other = Uint8Array.from(key)
  other[other.length - 1]! ^= 0xff
  const faults = [
    [[key, null], 'is missing'],
    [[key, Uint8Array.of(...value, 1)], 'has another value'],
    [[other, value], '1 rows too many'],
  ] as const
  for (const [write, problem] of faults) {
    const at = engine.ledger!.latestVersion
    await engine.commit([{ version: at + 1n, block, writes: [write] }], { chainId: 4 })
    expect(await checkHoldings(engine, at + 1n)).toMatchObject({ problems: [expect.stringContaining(problem)] })
    await engine.truncateTo(at)
  }
  const without = createMemoryEngine()
  await ingestSource(without, listedSource(versions), { holdings: false })
  expect(await checkHoldings(without, 5n)).toBeUndefined()
})
