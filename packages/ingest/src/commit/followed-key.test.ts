import { Buffer } from 'node:buffer'
import { bytesToHex, type Write } from '@ledger-state/core'
import { randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import {
  addressIn,
  isIndexedAlike,
  isObjectKey,
  objectChanges,
  readHeldObject,
  readIndexedGroup,
} from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { fullRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { FollowedObject } from './followed-key.js'

const seed = testSeed()
const ADDRESS = new Uint8Array(32).fill(7)

/** Values of objects, most of them with one byte changed, and deletions. */
function randomValues(count: number): (Uint8Array | null)[] {
  const random = createRandom(seed)
  const { versions } = randomHoldings(random, count)
  const written = versions.flatMap(({ writes }) => writes.filter(([key]) => isObjectKey(key)).map(([, value]) => value))
  return written.flatMap((value) => {
    if (!value) return [value]
    const changed = [value]
    for (let left = random.below(12); left > 0; left--) {
      const copy = Uint8Array.from(changed.at(-1)!)
      copy[random.below(copy.length)] = random.below(256)
      changed.push(random.below(3) === 0 ? value : copy)
    }
    return changed
  })
}

function textOf(writes: readonly Write[]): string[] {
  return writes.map(([key, value]) => `${bytesToHex(key)}=${value && bytesToHex(value)}`)
}

function changesOf(version: bigint, before: Uint8Array | null, after: Uint8Array | null): string[] {
  const read = (value: Uint8Array | null) => (value ? readHeldObject(value) : undefined)
  return textOf(objectChanges(ADDRESS, version, read(before), read(after)))
}

describe('a followed object', () => {
  it('has the changes of objects that are decoded completely, whatever bytes change', () => {
    const values = randomValues(fullRounds(400))
    const always = new FollowedObject(ADDRESS, { wrote() {} })
    let before: Uint8Array | null = null
    for (const [at, value] of values.entries()) {
      const version = BigInt(at)
      const changes = changesOf(version, before, value)
      expect(textOf(always.write(version, value)), `seed ${seed}, write ${at}`).toEqual(changes)
      const begun = new FollowedObject(ADDRESS, { wrote() {} })
      if (before) begun.begin(before)
      expect(textOf(begun.write(version, value)), `seed ${seed}, write ${at}`).toEqual(changes)
      before = value
    }
  })

  it('is alike in the index only if an object has the same owner, asset and collection, or none', () => {
    const values = randomValues(fullRounds(400)).filter((value) => value !== null)
    let alike = 0
    for (const [at, value] of values.entries()) {
      const other = values[at + 1]
      if (!other || !isIndexedAlike(readIndexedGroup(value), other)) continue
      if (Buffer.compare(value, other) !== 0) alike++
      const [one, two] = [readHeldObject(value), readHeldObject(other)]
      expect(two?.owner).toEqual(one?.owner)
      expect(two?.store?.asset).toEqual(one?.store?.asset)
      expect(two?.collection).toEqual(one?.collection)
    }
    expect(alike).toBeGreaterThan(0)
  })

  it('is not decoded for another balance', () => {
    const random = createRandom(seed)
    const { versions } = randomHoldings(random, 400)
    const groups = versions.flatMap(({ writes }) =>
      writes.flatMap(([key, value]) => (isObjectKey(key) && value ? [{ address: addressIn(key), value }] : [])),
    )
    const store = groups.find(({ value }) => readHeldObject(value)?.store)!
    const read = readIndexedGroup(store.value)
    expect(read.free.length).toBeGreaterThanOrEqual(4)
    const other = Uint8Array.from(store.value)
    for (let at = 0; at < read.free.length; at += 2) other.fill(0xab, read.free[at], read.free[at + 1])
    expect(isIndexedAlike(read, other)).toBe(true)
    other[read.free[0]! - 1]! ^= 1
    expect(isIndexedAlike(read, other)).toBe(false)
    expect(isIndexedAlike(read, other.subarray(1))).toBe(false)
  })
})
