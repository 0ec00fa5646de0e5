import { Buffer } from 'node:buffer'
import { ByteWriter, bytesToHex, isLedgerStateError, type Write } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import {
  FACTS_LENGTH,
  isObjectKey,
  ObjectFacts,
  objectChanges,
  objectKey,
  readFacts,
  readHeldObject,
  writeFacts,
} from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { fullRounds } from '@ledger-state/testing/test-scale'
import { type GroupMember, readGroupMembers, skipStructTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { FollowedObjects } from './followed-objects.js'
import { ValuesBefore } from './values-before.js'

const seed = testSeed()
const ADDRESS = new Uint8Array(32).fill(7)
const KEY = objectKey(ADDRESS)
const NO_NOTES = { wroteAgain() {}, wrote() {} }

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

/** The changes of a value after another one that is in the store. */
async function changesInStore(version: bigint, before: Uint8Array | null, after: Uint8Array | null): Promise<string[]> {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: before ? [[KEY, before]] : [] }], { chainId: 1 })
  const objects = new FollowedObjects(NO_NOTES)
  const values = new ValuesBefore()
  const place = objects.placeOf(KEY)
  expect(objects.isSame(place, after)).toBe(false)
  objects.ask(values)
  await values.load(await engineToAsync(engine).snapshot())
  objects.load(values)
  return textOf(objects.write(place, version, KEY, after))
}

function groupOf(members: readonly GroupMember<Uint8Array>[]): Uint8Array {
  const writer = new ByteWriter().uleb128(members.length)
  for (const { name, bytes } of members) writer.bytes(name).byteString(bytes)
  return writer.toBytes()
}

function membersOf(group: Uint8Array): readonly GroupMember<Uint8Array>[] {
  try {
    return readGroupMembers(group, (reader) => {
      const start = reader.offset
      skipStructTag(reader)
      return group.subarray(start, reader.offset)
    })
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return []
    throw error
  }
}

/** The group with a long last member, which may be any. */
function longerGroup(group: Uint8Array): Uint8Array {
  const members = membersOf(group)
  const last = members.at(-1)
  return last ? groupOf([...members.slice(0, -1), { ...last, bytes: Buffer.alloc(5_000, last.bytes) }]) : group
}

/** The group with its members in the wrong order, which does not decode. */
function reorderedGroup(group: Uint8Array): Uint8Array[] {
  const members = membersOf(group)
  return members.length < 2 ? [] : [groupOf(members.toReversed())]
}

function factsOf(group: Uint8Array | null, facts = new ObjectFacts()): Uint8Array {
  const bytes = new Uint8Array(FACTS_LENGTH)
  writeFacts(group ? facts.read(group) : undefined, bytes, 0)
  return bytes
}

describe('a followed object', () => {
  it('has the changes of objects that are decoded completely, whatever bytes change', async () => {
    const values = randomValues(fullRounds(400))
    const always = new FollowedObjects(NO_NOTES)
    let before: Uint8Array | null = null
    for (const [at, value] of values.entries()) {
      const version = BigInt(at)
      const changes = changesOf(version, before, value)
      const place = always.placeOf(KEY)
      const isSame = always.isSame(place, value)
      if (isSame) expect(changes, `seed ${seed}, write ${at}`).toEqual([])
      else expect(textOf(always.write(place, version, KEY, value)), `seed ${seed}, write ${at}`).toEqual(changes)
      if (at % 8 === 0) {
        const inStore = await changesInStore(version, before, value)
        expect(inStore, `seed ${seed}, write ${at}`).toEqual(changes)
      }
      before = value
    }
  })
})

describe('facts of objects', () => {
  it('are those of groups that are decoded completely, with any layouts before', () => {
    const random = createRandom(seed)
    const facts = new ObjectFacts()
    const values = randomValues(fullRounds(400)).filter((value) => value !== null)
    for (const value of random.shuffled([...values, ...values.map(longerGroup), ...values.flatMap(reorderedGroup)])) {
      const held = readHeldObject(value)
      const hasFacts = factsOf(value, facts)
      expect(hasFacts, `seed ${seed}`).toEqual(factsOf(value))
      const read = readFacts(hasFacts, 0)
      expect(read?.owner).toEqual(held?.owner)
      expect(read?.store?.asset).toEqual(held?.store?.asset)
      expect(read?.collection).toEqual(held?.collection)
    }
  })

  it('are the same only if an object has the same owner, asset and collection, or none', () => {
    const values = randomValues(fullRounds(400))
    const facts = new ObjectFacts()
    let alike = 0
    for (const [at, value] of values.entries()) {
      const next = values[at + 1] ?? null
      const [one, two] = [factsOf(value), factsOf(next)]
      const isSame = facts.isSame(next, new DataView(one.buffer), 0)
      expect(isSame, `seed ${seed}, write ${at}`).toBe(Buffer.compare(one, two) === 0)
      if (isSame && value && next && Buffer.compare(value, next) !== 0) alike++
    }
    expect(alike).toBeGreaterThan(0)
  })

  it('are the same for another balance, and not for another owner', () => {
    const { versions } = randomHoldings(createRandom(seed), 400)
    const groups = versions.flatMap(({ writes }) =>
      writes.flatMap(([key, value]) => (isObjectKey(key) && value ? [value] : [])),
    )
    const store = groups.find((value) => readHeldObject(value)?.store)!
    const { owner, store: held } = readHeldObject(store)!
    const facts = new ObjectFacts()
    const view = new DataView(factsOf(store).buffer)
    const other = Buffer.from(store)
    const asset = other.indexOf(held!.asset)
    other.fill(0xab, asset + held!.asset.length, asset + held!.asset.length + 8)
    expect(readHeldObject(other)?.store?.amount).not.toBe(held!.amount)
    expect(facts.isSame(other, view, 0)).toBe(true)
    other[other.indexOf(owner)]! ^= 1
    expect(facts.isSame(other, view, 0)).toBe(false)
    expect(facts.isSame(store.subarray(1), view, 0)).toBe(false)
  })
})
