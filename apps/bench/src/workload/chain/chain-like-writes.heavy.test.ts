import { createHash } from 'node:crypto'
import { createValueCodec } from '@ledger-state/bcs/values'
import { addressToLongHex, ByteReader, type VersionWrites } from '@ledger-state/core'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { layoutOf, type MoveModule, readModule } from '@ledger-state/move-module'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { decodeStateKey, readStructTag, type StructTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { type ChainLikeWrite, chainLikeBlocks } from './chain-like-writes.ts'
import { FIRST_WRITES, type KeyReturns } from './key-population.ts'

const WRITES = 30_000
const settings = Object.keys(FIRST_WRITES) as KeyReturns[]

function* writesOf(returns: KeyReturns, seed = 1): Generator<ChainLikeWrite> {
  let writes = 0
  for (const { metadata, transactions } of chainLikeBlocks(returns, seed)) {
    for (const write of [metadata, ...transactions].flat()) {
      yield write
      writes++
    }
    if (writes >= WRITES) return
  }
}

/**
 * Number of bytes that differ between two values, and of runs of such bytes. Runs less than three bytes apart count as
 * one, as in the design.
 */
function difference(one: Uint8Array, other: Uint8Array): { readonly changed: number; readonly runs: number } {
  let [changed, runs, last] = [0, 0, -4]
  for (const [at, byte] of one.entries()) {
    if (byte === other[at]) continue
    changed++
    if (at - last > 3) runs++
    last = at
  }
  return { changed, runs }
}

/**
 * Mean differences of consecutive values of a key that have one length and are not equal, by the name of their type.
 */
function meanDifferences(writes: Iterable<RealWrite>) {
  const before = new Map<string, Uint8Array>()
  const sums = new Map<string, { pairs: number; changed: number; runs: number }>()
  for (const { key, value } of writes) {
    const text = Buffer.from(key).toString('latin1')
    const previous = before.get(text)
    if (!value) continue
    before.set(text, value)
    if (previous?.length !== value.length) continue
    const { changed, runs } = difference(previous, value)
    if (changed === 0) continue
    const named = decodeStateKey(key)
    for (const name of ['all', named.kind === 'resource' ? named.tag.name : named.kind]) {
      const sum = sums.get(name) ?? { pairs: 0, changed: 0, runs: 0 }
      sums.set(name, { pairs: sum.pairs + 1, changed: sum.changed + changed, runs: sum.runs + runs })
    }
  }
  return new Map(
    [...sums].map(([name, { pairs, changed, runs }]) => [
      name,
      { pairs, changed: changed / pairs, runs: runs / pairs },
    ]),
  )
}

interface RealWrite {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

async function readWrites(name: string, options: SourceOptions): Promise<RealWrite[]> {
  const source = await openSource(sharedPath(name), { ...options, verify: false })
  const versions: VersionWrites[] = []
  for await (const version of source.versions()) versions.push(version)
  await source.close()
  return versions.flatMap(({ writes }) => writes.map(([key, value]) => ({ key, value })))
}

function membersOf(group: Uint8Array): [tag: StructTag, value: Uint8Array][] {
  const reader = new ByteReader(group)
  const count = reader.readLength()
  const members = Array.from({ length: count }, (): [StructTag, Uint8Array] => [
    readStructTag(reader),
    reader.readByteString(),
  ])
  reader.expectEnd()
  return members
}

describe.each(settings)('writes like those of a chain, %s', (returns) => {
  it('change as many bytes of a value as 25 real pairs of mainnet do: 2.9 in 1.2 runs', () => {
    const { changed, runs } = meanDifferences(writesOf(returns)).get('all')!
    expect(changed).toBeGreaterThan(2.4)
    expect(changed).toBeLessThan(3.4)
    expect(runs).toBeGreaterThan(1)
    expect(runs).toBeLessThan(1.4)
  })

  it('write as many keys for the first time as the setting says, and say so of each', () => {
    const known = new Set<string>()
    let writes = 0
    for (const { key, isCreation } of writesOf(returns)) {
      const text = Buffer.from(key).toString('latin1')
      if (isCreation === known.has(text)) expect.fail(`creation ${isCreation} of write ${writes}`)
      known.add(text)
      writes++
    }
    expect(known.size / writes).toBeCloseTo(FIRST_WRITES[returns], 2)
  })

  it('are the same for the same seed, and others for another', () => {
    const digest = (seed: number) => {
      const hash = createHash('sha256')
      for (const { key, value, isCreation, creationTimeUsec } of writesOf(returns, seed)) {
        hash.update(key).update(value).update(`${isCreation} ${creationTimeUsec}`)
      }
      return hash.digest('hex')
    }
    expect(digest(3)).toBe(digest(3))
    expect(digest(3)).not.toBe(digest(4))
  })

  it('have 6.6 writes a version, no key twice in one', () => {
    let [versions, writes] = [0, 0]
    for (const { height, metadata, transactions } of chainLikeBlocks(returns)) {
      versions += 2 + transactions.length
      for (const version of [metadata, ...transactions]) {
        writes += version.length
        expect(new Set(version.map(({ key }) => Buffer.from(key).toString('latin1'))).size).toBe(version.length)
      }
      if (height === 500) break
    }
    expect(writes / versions).toBeGreaterThan(6.5)
    expect(writes / versions).toBeLessThan(6.8)
  })
})

it('keys come back late in a ledger as the design counted: 51,517 writes of 0.43 as many keys', () => {
  const last = 51_517
  const keys: string[] = []
  for (const { metadata, transactions } of chainLikeBlocks('spreading')) {
    for (const { key } of [metadata, ...transactions].flat()) keys.push(createHash('md5').update(key).digest('base64'))
    if (keys.length > 400_000) break
  }
  const share = new Set(keys.slice(-last)).size / last
  expect(share).toBeGreaterThan(0.38)
  expect(share).toBeLessThan(0.48)
})

describe.skipIf(!hasSharedData)('writes like those of a chain, compared with real ones', () => {
  it('have values that the modules of a real genesis lay out, in full', async () => {
    const modules = new Map<string, MoveModule>()
    for (const { key, value } of await readWrites('data/genesis/devnet.genesis.blob', {})) {
      const named = decodeStateKey(key)
      if (named.kind === 'module') modules.set(`${addressToLongHex(named.address)}::${named.name}`, readModule(value!))
    }
    const lengths = new Map<string, number>()
    const check = (tag: StructTag, value: Uint8Array): void => {
      const codec = createValueCodec(
        layoutOf(tag, ({ address, name }) => modules.get(`${addressToLongHex(address)}::${name}`)),
      )
      expect(Buffer.compare(codec.valueToBytes(codec.bytesToValue(value)), value)).toBe(0)
      lengths.set(tag.name, value.length)
    }
    let left = 3_000
    for (const { key, value } of writesOf('spreading')) {
      const named = decodeStateKey(key)
      if (named.kind === 'resource') check(named.tag, value)
      if (named.kind === 'resourceGroup') for (const [tag, member] of membersOf(value)) check(tag, member)
      if (--left === 0) break
    }
    expect(Object.fromEntries(lengths)).toMatchObject({
      Account: 147,
      BlockResource: 112,
      CoinStore: 105,
      ConcurrentFungibleBalance: 16,
      CurrentTimeMicroseconds: 8,
      FungibleStore: 41,
      ValidatorPerformance: 2_098,
    })
  })

  it('change as much of a resource as the writes of a real chain do', async () => {
    const real = meanDifferences(await readWrites('data/backup', { hashSalt: 'DIEM::' }))
    const made = meanDifferences(writesOf('returning'))
    for (const name of ['BlockResource', 'CurrentTimeMicroseconds', 'ValidatorPerformance', 'Account']) {
      expect(real.get(name)!.pairs).toBeGreaterThan(1_000)
      expect(made.get(name)!.changed).toBeCloseTo(real.get(name)!.changed, 1)
      expect(made.get(name)!.runs).toBeCloseTo(real.get(name)!.runs, 1)
    }
  })
})
