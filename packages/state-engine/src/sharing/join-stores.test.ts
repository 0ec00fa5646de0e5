import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { expect, it, onTestFailed } from 'vitest'
import { answersOf } from '../../testing/same-answers.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader, type WriterOptions } from '../open-state-engine.js'
import { openAssembly } from './assembly.js'
import { joinStores } from './join-stores.js'
import type { StoreSegments } from './store-segments.js'

const folder = temporaryFolder()
const ROUNDS = isSlowRun ? 12 : 3

/** Versions that write and delete the same few keys, also ones that do not exist. */
function randomVersions(random: Random, count: number): VersionWrites[] {
  return Array.from({ length: count }, (_, version) => {
    const keys = new Set(Array.from({ length: random.below(5) }, () => random.below(30)))
    const writes = [...keys].map((key): Write => {
      const isDeletion = random.below(3) === 0
      return [bytes(`key ${key}`), isDeletion ? null : new Uint8Array(random.below(60)).fill(version)]
    })
    return record(version, writes, version === 0 || random.below(3) === 0 ? version : undefined)
  })
}

/** Random places at which blocks begin, from which parts begin. */
function cutsOf(random: Random, versions: readonly VersionWrites[]): number[] {
  const begins = versions.flatMap(({ block, version }) => (block && version > 0n ? [Number(version)] : []))
  return begins.filter(() => random.below(6) === 0)
}

async function fill(path: string, versions: readonly VersionWrites[], random: Random, options: Partial<WriterOptions>) {
  const open = () =>
    openStateEngine({
      path,
      durability: 'none',
      verifyReads: true,
      memtableBytes: random.pick([4_000, 100_000]),
      ...options,
    })
  let engine = open()
  for (let at = 0; at < versions.length; ) {
    const count = 1 + random.below(20)
    const batch = versions.slice(at, at + count)
    at += count
    await engine.commit(batch, { ...CHAIN, mark: bytes(`after ${batch.at(-1)!.version}`) })
    if (random.below(4) === 0) await engine.merge()
    if (random.below(8) > 0) continue
    await engine.close()
    engine = open()
  }
  return engine
}

async function fillPart(path: string, versions: readonly VersionWrites[], random: Random): Promise<StoreSegments> {
  const engine = await fill(path, versions, random, { part: true })
  await engine.compact()
  const segments = engine.segments()
  await engine.close()
  return segments
}

async function joinInto(path: string, stores: readonly StoreSegments[]): Promise<void> {
  const assembly = openAssembly(path)
  const files = await joinStores(assembly, stores)
  const [first, last] = [stores[0]!, stores.at(-1)!]
  const { latestVersion, latestBlock } = last.ledger
  await assembly.create({ ...first, mark: last.mark, ledger: { ...first.ledger, latestVersion, latestBlock } }, files)
  await assembly.publish()
}

const hashesOf = ({ files }: StoreSegments) =>
  files.map(({ path }) => createHash('sha256').update(readFileSync(path)).digest('hex'))

it('parts that are filled independently, joined, answer as a store that was filled in order does', async () => {
  const seed = testSeed()
  onTestFailed(() => console.error(`TEST_SEED=${seed} repeats the random choices of this test`))
  const random = createRandom(seed)
  for (let round = 0; round < ROUNDS; round++) {
    const place = (name: string) => join(folder.path, `${round} ${name}`)
    const versions = randomVersions(random, 30 + random.below(90))
    const whole = await fill(place('whole'), versions, random, {})
    const cuts = [0, ...cutsOf(random, versions), versions.length]
    const parts: StoreSegments[] = []
    for (const [at, from] of cuts.slice(0, -1).entries()) {
      parts.push(await fillPart(place(`part ${at}`), versions.slice(from, cuts[at + 1]), random))
    }
    await joinInto(place('joined'), parts)
    const reader = openStateEngineReader({ path: place('joined'), verifyReads: true })
    expect(answersOf(reader)).toEqual(answersOf(whole))
    expect((await reader.check()).problems).toEqual([])
    await reader.close()
    // It goes on as a store does.
    const next = [record(versions.length, [[bytes('key 1'), bytes('next')]], versions.length)]
    const writer = openStateEngine({ path: place('joined'), verifyReads: true })
    for (const engine of [writer, whole]) await engine.commit(next, CHAIN)
    expect(answersOf(writer)).toEqual(answersOf(whole))
    await writer.merge()
    expect(answersOf(writer)).toEqual(answersOf(whole))
    expect((await writer.check()).problems).toEqual([])
    await writer.close()
    await whole.close()
  }
})

it('two fills of a part, with other pauses, merges and memory, have the same files', async () => {
  const seed = testSeed()
  onTestFailed(() => console.error(`TEST_SEED=${seed} repeats the random choices of this test`))
  const random = createRandom(seed)
  for (let round = 0; round < ROUNDS; round++) {
    const versions = randomVersions(random, 120).slice(20)
    versions[0] = { ...versions[0]!, block: { height: 20n, epoch: 0n, timestampUsec: 20n } }
    const [first, second] = [
      await fillPart(join(folder.path, `${round} a`), versions, random),
      await fillPart(join(folder.path, `${round} b`), versions, random),
    ]
    expect(hashesOf(second)).toEqual(hashesOf(first))
    const { files, ...facts } = first
    const { files: _, ...others } = second
    expect(others).toEqual(facts)
    expect(files).toHaveLength(1)
  }
})

it('a part stays one however it is opened: its deletions hide the values of an earlier part after a join', async () => {
  const random = createRandom(1)
  const place = (name: string) => join(folder.path, name)
  const olds = ['key', 'late', 'last'].map((key) => [bytes(key), bytes('old')] as const)
  const versions = [
    record(0, olds, 0),
    // The first version of the second part deletes what only the first one has, and so do a later one and the last.
    record(1, [[bytes('key'), null]], 1),
    record(2, [[bytes('other'), bytes('new')]], 2),
    record(3, [[bytes('late'), null]], 3),
    record(4, [[bytes('last'), null]], 4),
  ]
  const first = await fillPart(place('first'), versions.slice(0, 1), random)
  await fillPart(place('second'), versions.slice(1, 4), random)
  const reader = openStateEngineReader({ path: place('second') })
  for (const compact of [false, true]) await reader.snapshot(place(`copy ${compact}`), { compact })
  await reader.close()
  const joined: unknown[] = []
  for (const compact of [false, true]) {
    const engine = openStateEngine({ path: place(`copy ${compact}`) })
    await engine.commit([versions[4]!], CHAIN)
    if (compact) await engine.reclaim()
    await engine.compact()
    await joinInto(place(`joined ${compact}`), [first, engine.segments()])
    await engine.close()
    const answers = openStateEngineReader({ path: place(`joined ${compact}`) })
    for (const [key, deletedAt] of [
      ['key', 1n],
      ['late', 3n],
      ['last', 4n],
    ] as const) {
      expect([...answers.history(bytes(key))].map(({ version }) => version)).toEqual([deletedAt, 0n])
    }
    joined.push(answersOf(answers))
    await answers.close()
  }
  expect(joined[1]).toEqual(joined[0])
})

it('stores that do not follow each other, or are no parts, are refused by name', async () => {
  const random = createRandom(1)
  const versions = Array.from({ length: 30 }, (_, at) => record(at, [[bytes('key'), bytes(`${at}`)]], at))
  const part = (name: string, from: number, to: number) =>
    fillPart(join(folder.path, name), versions.slice(from, to), random)
  const [first, second, third] = [await part('a', 0, 10), await part('b', 10, 20), await part('c', 20, 30)]
  await expect(joinInto(join(folder.path, 'gap'), [first, third])).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/version 9 is followed by version 20/),
  })
  const engine = await fill(join(folder.path, 'whole'), versions.slice(0, 20), random, {})
  await engine.merge()
  await expect(joinInto(join(folder.path, 'other'), [engine.segments(), third])).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/segment-\d+ does not belong to a part/),
  })
  await engine.commit([record(20, [], 20)], CHAIN)
  expect(() => engine.segments()).toThrow(/newest commits .* not in segment files/)
  await engine.close()
  await joinInto(join(folder.path, 'joined'), [first, second, third])
  await expect(joinInto(join(folder.path, 'joined'), [first])).rejects.toMatchObject({ code: 'store_not_empty' })
})
