import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import { isSkipped, scanInSteps } from '@ledger-state/engine'
import { eventually } from '@ledger-state/testing/eventually'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { expect, it } from 'vitest'
import { CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, type StateEngine } from '../open-state-engine.js'
import { PAGES_OF_RUNS } from './scan.js'

const SEED = testSeed()
const folder = temporaryFolder()
const ROUNDS = isSlowRun ? 60 : 20

/** Makes short keys, and long ones with the same first 1,900 bytes. */
function randomKey(random: ReturnType<typeof createRandom>): Buffer {
  const short = Buffer.from(`${random.below(3)}/${random.below(4_000)}`)
  return random.below(4) === 0 ? Buffer.concat([Buffer.alloc(1_950, '1'), short]) : short
}

it(`a scan merges the keys of segments and of the memtable, starting at any key (TEST_SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  const options = { path: folder.path, durability: 'none' } as const
  /** Version that wrote each key first. */
  const known = new Map<string, bigint>()
  const commit = async (to: StateEngine, version: bigint): Promise<void> => {
    const writes = new Map<string, Write>()
    for (let count = 0; count < 60; count++) {
      const key = randomKey(random)
      writes.set(key.toString('latin1'), [key, Buffer.from(`${version}`)])
    }
    for (const text of writes.keys()) if (!known.has(text)) known.set(text, version)
    await to.commit([record(Number(version), [...writes.values()], Number(version))], CHAIN)
  }
  const merging = openStateEngine({ ...options, memtableBytes: 700_000 })
  for (let version = 0n; version < 20n; version++) await commit(merging, version)
  await eventually(
    () => merging.stats.keys > 100,
    () => `more than 100 keys in the segments, which have ${merging.stats.keys}`,
  )
  await merging.close()
  // The memtable now has room for all further versions, so it keeps them whatever their keys are.
  const engine = openStateEngine(options)
  for (let version = 20n; version < 30n; version++) await commit(engine, version)
  expect(engine.stats.memtableEntries).toBeGreaterThan(100)
  const sorted = [...known.keys()].sort()
  for (let round = 0; round < ROUNDS; round++) {
    const version = BigInt(random.below(30))
    const prefix = ['', '0', '1', '1/1', '1'.repeat(1_930)][random.below(5)]!
    const start = random.below(3) === 0 ? undefined : random.pick(sorted)
    const limit = random.below(3) === 0 ? undefined : random.below(700)
    const range = { start: start === undefined ? undefined : Buffer.from(start, 'latin1'), limit }
    const found = [...engine.at(version).scan(Buffer.from(prefix, 'latin1'), range)].map(({ key }) =>
      Buffer.from(key).toString('latin1'),
    )
    const expected = sorted.filter(
      (key) => key.startsWith(prefix) && known.get(key)! <= version && (start === undefined || key >= start),
    )
    expect(found).toEqual(expected.slice(0, limit))
  }
  await engine.close()
})

it(`a scan has the entries that look-ups find, of long histories, deletions and large values (TEST_SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  const key = (at: number) => Buffer.from(`key ${at % 7}/${at}`)
  for (let version = 0; version < 400; version++) {
    // A few keys are written so often that their writes fill several blocks.
    const written = new Set(Array.from({ length: 12 }, () => random.below(random.below(2) === 0 ? 3 : 150)))
    const writes = [...written].map((at): Write => {
      if (random.below(5) === 0) return [key(at), null]
      return [key(at), Buffer.alloc(random.below(40) === 0 ? 30_000 : random.below(300), version)]
    })
    await engine.commit([record(version, writes, version)], CHAIN)
    if (version % 90 === 89) await engine.merge()
  }
  for (let round = 0; round < ROUNDS; round++) {
    const view = engine.at(BigInt(random.below(400)))
    const prefix = Buffer.from(['', 'key ', 'key 3/', 'kez'][random.below(4)]!)
    const limit = random.below(2) === 0 ? undefined : random.below(200)
    const all = Array.from({ length: 150 }, (_, at) => key(at)).sort(Buffer.compare)
    const expected = all.flatMap((one) => {
      const entry = one.subarray(0, prefix.length).equals(prefix) ? view.getEntry(one) : undefined
      return entry ? [{ key: one, ...entry }] : []
    })
    expect([...view.scan(prefix, { limit })]).toEqual(expected.slice(0, limit))
  }
  // Merges between the entries of a scan.
  const expected = [...engine.at().scan(Buffer.from('key'))]
  const found: unknown[] = []
  const view = engine.at()
  for (const entry of view.scan(Buffer.from('key'))) {
    found.push(entry)
    if (found.length % 40 !== 0) continue
    await engine.commit(
      [record(399 + found.length / 40, [[key(found.length), Buffer.from('new')]], 399 + found.length / 40)],
      CHAIN,
    )
    await engine.merge()
  }
  expect(found).toEqual(expected)
  await engine.close()
})

it(`a scan is right while keys come in, short or long (TEST_SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  const known = new Set<string>()
  const scan = (limit?: number) => engine.at().scan(Buffer.from('k'), limit === undefined ? {} : { limit })
  const textOf = ({ key }: { readonly key: Uint8Array }) => Buffer.from(key).toString('latin1')
  for (let version = 0; version < 40; version++) {
    const texts = Array.from({ length: random.below(300) + 1 }, () => `k${random.below(2 ** 30).toString(36)}`)
    const writes = [...new Set(texts)].map((text): Write => [Buffer.from(text), Buffer.from(`${version}`)])
    await engine.commit([record(version, writes, version)], CHAIN)
    for (const text of texts) known.add(text)
    const limit = random.below(600)
    const sorted = [...known].sort()
    // Each scan after a commit leaves one more sorted run.
    for (let again = 0; again < 2; again++) expect([...scan(limit)].map(textOf)).toEqual(sorted.slice(0, limit))
    if (version % 13 === 12) expect([...scan()].map(textOf)).toEqual(sorted)
  }
  // More keys than the pages that are read from runs have. Others come between the pages.
  const sorted = [...known].sort()
  expect(sorted.length).toBeGreaterThan(PAGES_OF_RUNS * 256)
  const found: string[] = []
  for (const entry of scan()) {
    found.push(textOf(entry))
    if (found.length % 700 > 0) continue
    const version = 39 + found.length / 700
    await engine.commit([record(version, [[Buffer.from(`k${version}`), Buffer.from('new')]], version)], CHAIN)
  }
  expect(found).toEqual(sorted)
  await engine.close()
})

it('a scan for one key passes deleted keys in pages that grow', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  const keys = Array.from({ length: 5_000 }, (_, at) => Buffer.from(`key ${10_000 + at}`))
  await engine.commit(
    [
      record(
        0,
        keys.map((key): Write => [key, key]),
        0,
      ),
    ],
    CHAIN,
  )
  const last = Buffer.from('key of the end')
  const removals = keys.map((key): Write => [key, null])
  await engine.commit([record(1, [...removals, [last, last]], 1)], CHAIN)
  const steps = [...scanInSteps(engine.at(), Buffer.from('key'), { limit: 1 })]
  const skipped = steps.flatMap((step) => (isSkipped(step) ? [step.skipped] : []))
  // The page that has the key ends with it.
  expect(skipped.reduce((sum, count) => sum + count)).toBeGreaterThan(5_000 - 256)
  expect(skipped.length).toBeLessThan(5_000 / 256 + 8)
  expect(steps.filter((step) => !isSkipped(step)).map(({ key }) => Buffer.from(key).toString())).toEqual([
    'key of the end',
  ])
  await engine.close()
})
