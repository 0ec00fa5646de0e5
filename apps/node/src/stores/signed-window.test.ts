import type { VersionWrites } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { encodeCommitMark } from '@ledger-state/records'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asyncUpToSigned, upToSigned } from './signed-window.js'

const KEY = Uint8Array.of(0, 7)
const WAYPOINT = `0:${'ab'.repeat(32)}`

/** A version that writes its number under the key. Every second version begins a block. */
function versionOf(version: bigint): VersionWrites {
  const height = version / 2n
  const block = version % 2n === 0n ? { height, epoch: 0n, timestampUsec: height * 10n } : undefined
  return { version, block, writes: [[KEY, Uint8Array.of(Number(version))]] }
}

function markOf(version: bigint | undefined): Uint8Array {
  const signed =
    version === undefined ? undefined : { version, waypoint: WAYPOINT, ending: WAYPOINT, epoch: 0n, power: undefined }
  return encodeCommitMark({
    isUnproven: false,
    source: undefined,
    writesHash: undefined,
    wholeHash: undefined,
    hashSalt: undefined,
    signed,
    contradicted: undefined,
    pending: [],
  })
}

let engine: StateWriter
beforeEach(async () => {
  engine = createMemoryEngine()
  await engine.commit(
    Array.from({ length: 10 }, (_, at) => versionOf(BigInt(at))),
    { chainId: 1, mark: markOf(4n) },
  )
})
afterEach(() => engine.close())

const NOT_FOUND = expect.objectContaining({ code: 'version_not_found' })

describe('a store that serves only signed versions', () => {
  it('ends at the newest signed version, for every read', () => {
    const state = upToSigned(engine, () => 4n)
    expect(state.ledger).toMatchObject({ latestVersion: 4n, latestBlock: { height: 2n } })
    expect(state.ledger).toBe(state.ledger)
    expect(state.at()).toMatchObject({ version: 4n, ledger: state.ledger })
    expect(state.at().get(KEY)).toEqual(Uint8Array.of(4))
    expect(state.at(3n).getEntry(KEY)?.version).toBe(3n)
    expect(() => state.at(5n)).toThrow(NOT_FOUND)
    expect(() => state.blockAt(5n)).toThrow(NOT_FOUND)
    expect(state.blockAt(4n)).toMatchObject({ firstVersion: 4n, lastVersion: 4n })
    expect(state.blockByHeight(2n)).toMatchObject({ lastVersion: 4n })
    expect(state.blockByHeight(3n)).toBeUndefined()
    expect(state.blockAtTime(1_000n)).toMatchObject({ firstVersion: 4n, lastVersion: 4n })
    expect(state.blockAtTime(10n)).toMatchObject({ firstVersion: 2n, lastVersion: 3n })
    expect([...state.history(KEY)].map(({ version }) => version)).toEqual([4n, 3n, 2n, 1n, 0n])
    expect([...state.history(KEY, { first: 5n })]).toEqual([])
  })

  it('is the same over an engine whose reads are promises', async () => {
    const state = asyncUpToSigned(engineToAsync(engine))
    const snapshot = await state.snapshot()
    expect(state.ledger).toBe(snapshot.ledger)
    expect(snapshot.ledger).toMatchObject({ latestVersion: 4n, latestBlock: { height: 2n } })
    expect((await snapshot.at().load([KEY]))[0]?.version).toBe(4n)
    expect(() => snapshot.at(5n)).toThrow(NOT_FOUND)
    await expect(snapshot.blockAt(5n)).rejects.toEqual(NOT_FOUND)
    expect(await snapshot.blockAt(4n)).toMatchObject({ lastVersion: 4n })
    expect(await snapshot.blockByHeight(3n)).toBeUndefined()
    expect(await snapshot.blockAtTime(1_000n)).toMatchObject({ firstVersion: 4n, lastVersion: 4n })
    expect((await snapshot.history(KEY)).revisions.map(({ version }) => version)).toEqual([4n, 3n, 2n, 1n, 0n])
    expect((await snapshot.history(KEY, { first: 5n })).revisions).toEqual([])
    expect(await snapshot.nearestWrites([KEY], { above: 4n, last: 9n })).toEqual([undefined])
    expect(await snapshot.nearestWrites([KEY], { above: 2n, last: 9n })).toEqual([3n])
    expect(await snapshot.nearestWrites([KEY], { until: 9n })).toEqual([4n])
  })

  it('grows as more is signed', async () => {
    let signed = 4n
    const state = upToSigned(engine, () => signed)
    signed = 6n
    expect(state.ledger?.latestVersion).toBe(6n)
    signed = 100n
    expect(state.ledger).toBe(engine.ledger)
    const asked = asyncUpToSigned(engineToAsync(engine))
    await engine.commit([versionOf(10n)], { chainId: 1, mark: markOf(9n) })
    expect((await asked.snapshot()).ledger?.latestVersion).toBe(9n)
  })

  it('has no ledger while nothing of its window is signed', async () => {
    for (const signed of [undefined, -1n]) {
      const state = upToSigned(engine, () => signed)
      expect(state.ledger).toBeUndefined()
      expect(() => state.at()).toThrow(expect.objectContaining({ code: 'no_ledger' }))
    }
    await engine.commit([versionOf(10n)], { chainId: 1, mark: markOf(undefined) })
    const snapshot = await asyncUpToSigned(engineToAsync(engine)).snapshot()
    expect(snapshot.ledger).toBeUndefined()
    expect(() => snapshot.at()).toThrow(expect.objectContaining({ code: 'no_ledger' }))
  })
})
