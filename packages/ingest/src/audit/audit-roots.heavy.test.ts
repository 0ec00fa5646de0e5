import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHexDigits, type VersionWrites, type Write } from '@ledger-state/core'
import { computeStateRoot, openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { isOwnKey, noteToAnnotation, STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ingestSource } from '../commit/ingest-source.js'
import { type AuditFinding, type AuditRecord, readAuditRecord } from './audit-record.js'
import { type AuditRootsOptions, auditRoots } from './audit-roots.js'

const folder = mkdtempSync(join(tmpdir(), 'audit-roots-'))
const chain = new SyntheticChain({ blocks: 40 })
const ALL = new Uint8Array(0)
const stores: StateEngine[] = []
let paths = 0
/** All versions of the ledger, the first with the whole state of version 0. */
let ledger: VersionWrites[]
let good: StateEngine

function openStore(memtableBytes?: number): StateEngine {
  const engine = openStateEngine({ path: join(folder, `store-${paths++}`), durability: 'none', memtableBytes })
  stores.push(engine)
  return engine
}

async function ingest(engine: StateEngine, path: string): Promise<void> {
  const source = await openSource(path, { thread: false })
  await ingestSource(engine, source)
  await source.close()
}

function versionsOf(engine: StateEngine): VersionWrites[] {
  const { latestVersion } = engine.ledger!
  const genesis = [...engine.at(0n).scan(ALL)].map(
    ({ key, value, annotation }): Write => (annotation ? [key, value, annotation] : [key, value]),
  )
  const first = { version: 0n, block: engine.blockAt(0n).block, writes: genesis }
  return [first, ...engine.versions(1n, latestVersion)]
}

/** A store with these versions, in segment files or in the memtable. */
async function storeOf(versions: readonly VersionWrites[], isMerged: boolean): Promise<StateEngine> {
  const engine = openStore(isMerged ? 0 : undefined)
  const { chainId } = good.ledger!
  for (let at = 0; at < versions.length; at += 60) await engine.commit(versions.slice(at, at + 60), { chainId })
  return engine
}

let folders = 0
const newFolder = () => join(folder, `audit-${folders++}`)
function audit(engine: StateEngine, options: Partial<AuditRootsOptions> = {}): Promise<AuditRecord> {
  const target = [...engine.history(STATE_ROOT_KEY)][0]!.version
  return auditRoots(engine, { folder: newFolder(), hashSalt: 'APTOS::', target, threads: 0, ...options })
}

/** The findings of an audit, computed from the whole state after each block. */
async function expectedFindings(engine: StateEngine) {
  const findings: Pick<AuditFinding, 'goodBefore' | 'firstWrong' | 'lastWrong' | 'goodAfter'>[] = []
  let goodBefore: bigint | null = null
  for (const { version, value } of [...engine.history(STATE_ROOT_KEY, { order: 'asc' })]) {
    const pages = [[...engine.at(version).scan(ALL)]]
    const { root } = await computeStateRoot(pages, { spillFolder: folder, threads: 0 })
    const open = findings.at(-1)
    const isOpen = open?.goodAfter === null
    if (bytesToHexDigits(root) === bytesToHexDigits(value!)) {
      if (isOpen) findings[findings.length - 1] = { ...open, goodAfter: version }
      goodBefore = version
    } else if (isOpen) findings[findings.length - 1] = { ...open, lastWrong: version }
    else findings.push({ goodBefore, firstWrong: version, lastWrong: version, goodAfter: null })
  }
  return findings
}

function intervalsOf({ findings }: AuditRecord) {
  return findings.map(({ goodBefore, firstWrong, lastWrong, goodAfter }) => ({
    ...{ goodBefore, firstWrong, lastWrong, goodAfter },
  }))
}

/**
 * Changes one write of the chain. Returns the versions, the version of the change, and the key whose value is wrong.
 */
function tampered(random: Random, from: readonly VersionWrites[]) {
  const places = from.flatMap(({ writes }, at) => writes.map(([key], write) => ({ at, write, key })))
  const { at, write, key } = random.pick(places.filter((place) => !isOwnKey(place.key)))
  const [, value, annotation] = from[at]!.writes[write]!
  const flipped = (bytes: Uint8Array) => {
    const changed = Uint8Array.from(bytes)
    if (changed.length > 0) changed[random.below(changed.length)]! ^= 1 << random.below(8)
    return changed
  }
  const others = from[at]!.writes.filter((_, index) => index !== write)
  const noted = noteToAnnotation({
    metadata: { slotDeposit: BigInt(random.below(9)), bytesDeposit: undefined, creationTimeUsec: 5n },
    isCreation: false,
  })!
  const otherKey = Uint8Array.of(...key.subarray(0, -1), key.at(-1)! ^ 1)
  const isTaken = others.some(([name]) => bytesToHexDigits(name) === bytesToHexDigits(otherKey))
  const isLong = value !== null && value.length > 0
  const change = random.below(5)
  const writes: readonly Write[] =
    change === 0 && isLong
      ? [...others, annotation ? [key, flipped(value), annotation] : [key, flipped(value)]]
      : change === 1 && value
        ? [...others, [key, value, noted]]
        : change === 2 && value && !isTaken
          ? [...others, [otherKey, value]]
          : change === 3 && at > 0
            ? [...others, [key, null]]
            : others
  const versions = from.map((one, index) => (index === at ? { ...one, writes } : one))
  return { versions, version: from[at]!.version, key, isValue: change < 2 && isLong }
}

beforeAll(async () => {
  const backup = join(folder, 'backup')
  writeBackup(chain, backup)
  good = openStore(0)
  await ingest(good, backup)
  ledger = versionsOf(good)
})
afterAll(async () => {
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true })
})

describe('auditRoots', () => {
  it('finds the root of the ledger at the end of each block, in one range or in many, from files or the memtable', async () => {
    const given = [...good.history(STATE_ROOT_KEY)]
    for (const engine of [good, await storeOf(ledger, false)]) {
      for (const options of [{}, { rangeWrites: 40, memoryBytes: 4_000 }, { rangeWrites: 300 }]) {
        const record = await audit(engine, options)
        expect(record).toMatchObject({ from: 0n, version: given[0]!.version, findings: [], findingCount: 0 })
        expect(record.compared).toBe(given.length)
        expect(record.root).toBe(bytesToHexDigits(given[0]!.value!))
      }
    }
  })

  it('finds changes at random places of the past, with the right blocks and the key', async () => {
    const random = createRandom(testSeed())
    for (let round = 0; round < 6; round++) {
      const { versions, version, key, isValue } = tampered(random, ledger)
      const engine = await storeOf(versions, round % 2 === 0)
      const expected = await expectedFindings(engine)
      const options = round % 3 === 0 ? {} : { rangeWrites: 30 + random.below(200) }
      const record = await audit(engine, options)
      expect(intervalsOf(record), `seed ${testSeed()}, round ${round}`).toEqual(expected)
      if (!isValue || expected.length === 0) continue
      const { lastVersion } = engine.blockAt(version)
      const found = record.findings.find(({ firstWrong }) => firstWrong === lastVersion)!
      expect(found).toBeDefined()
      if (found.goodBefore !== null) {
        expect(found.candidates!.count).toBeGreaterThan(0)
        if (found.candidates!.count <= 16) expect(found.candidates!.keys).toContain(bytesToHexDigits(key))
      }
    }
  })

  it('has the same findings after it was stopped anywhere, any number of times', async () => {
    const random = createRandom(testSeed())
    const { versions } = tampered(random, ledger)
    const engine = await storeOf(versions, true)
    const whole = await audit(engine)
    const place = newFolder()
    const isRandomStop = () => random.below(12) === 0
    let record: AuditRecord | undefined
    let stops = 0
    while (!record) {
      const onProgress = () => {
        if (stops < 60 && isRandomStop()) {
          stops++
          throw new Error('stopped')
        }
      }
      record = await audit(engine, { folder: place, rangeWrites: 25, onProgress }).catch((error: Error) => {
        expect(error.message).toBe('stopped')
        return undefined
      })
    }
    expect(stops).toBeGreaterThan(0)
    expect(record.findings).toEqual(whole.findings)
    expect(record.root).toBe(whole.root)
    expect(record.compared).toBe(whole.compared)
    expect(readdirSync(place).sort()).toEqual(['audit.json', record.leavesFile])
    // Nothing is left to do, and a mismatch stays found.
    expect(await audit(engine, { folder: place })).toEqual(record)
  })

  it('goes on with new versions, and starts over for another store, after damage of its files, or if asked', async () => {
    const half = ledger.findIndex(({ version }) => version === good.blockAt(BigInt(ledger.length) / 2n).firstVersion)
    const engine = await storeOf(ledger.slice(0, half), true)
    const place = newFolder()
    const first = await audit(engine, { folder: place })
    await engine.commit(ledger.slice(half), { chainId: good.ledger!.chainId })
    const progress: number[] = []
    const second = await audit(engine, { folder: place, onProgress: ({ version }) => progress.push(Number(version)) })
    expect(second.compared).toBe([...good.history(STATE_ROOT_KEY)].length)
    expect(progress[0]).toBe(Number(first.version))
    expect(second.root).toBe((await audit(good)).root)
    const begins = async (store: StateEngine, options: Partial<AuditRootsOptions> = {}) => {
      const seen: bigint[] = []
      const record = await audit(store, { folder: place, onProgress: ({ version }) => seen.push(version), ...options })
      return { record, isAnew: seen[0] === 0n }
    }
    expect((await begins(engine)).isAnew).toBe(false)
    expect(await begins(engine, { isAgain: true })).toMatchObject({
      isAnew: true,
      record: { compared: second.compared },
    })
    expect((await begins(good)).isAnew).toBe(true)
    writeFileSync(
      join(place, 'audit.json'),
      readFileSync(join(place, 'audit.json'), 'utf8').replace('"compared":', '"compared":1'),
    )
    expect(readAuditRecord(place)).toBeUndefined()
    expect((await begins(good)).isAnew).toBe(true)
  })

  it('notices any damage of the leaves from which it continues', async () => {
    const random = createRandom(testSeed())
    const half = good.blockAt(BigInt(ledger.length) / 2n).lastVersion
    for (let round = 0; round < 8; round++) {
      const place = newFolder()
      const { leavesFile } = await audit(good, { folder: place, target: half })
      const path = join(place, leavesFile)
      const bytes = readFileSync(path)
      const leavesAt = bytes.length - random.below(bytes.length - 33_000) - 1
      bytes[leavesAt]! ^= 1 << random.below(8)
      writeFileSync(path, bytes)
      await expect(audit(good, { folder: place })).rejects.toMatchObject({ code: 'audit_damaged' })
      expect((await audit(good, { folder: place })).findings).toEqual([])
    }
  })

  it('keeps everything while the system does not read one of its files, and goes on afterwards', async () => {
    const half = good.blockAt(BigInt(ledger.length) / 2n).lastVersion
    const place = newFolder()
    const kept = { folder: place, proofBytes: 2 ** 24, proofKeys: 5 }
    const { leavesFile, proofs } = await audit(good, { ...kept, target: half })
    const names = readdirSync(place)
    for (const name of ['audit.json', leavesFile, proofs!.keysFile, proofs!.cuts.at(-1)!.name]) {
      const path = join(place, name)
      // The system opens a folder instead, and does not read it.
      renameSync(path, join(folder, 'aside'))
      mkdirSync(path)
      await expect(audit(good, kept)).rejects.toMatchObject({ code: 'spill_failed' })
      rmdirSync(path)
      renameSync(join(folder, 'aside'), path)
      expect(readdirSync(place)).toEqual(expect.arrayContaining(names))
    }
    const seen: bigint[] = []
    await audit(good, { ...kept, onProgress: ({ version }) => seen.push(version) })
    expect(seen[0]).toBe(half)
  })

  it('begins at the oldest version if one of its files is gone, and keeps all of them again', async () => {
    const half = good.blockAt(BigInt(ledger.length) / 2n).lastVersion
    const place = newFolder()
    const kept = { folder: place, proofBytes: 2 ** 16, proofKeys: 5 }
    for (let at = 0; ; at++) {
      const { leavesFile, proofs } = await audit(good, { ...kept, target: half, isAgain: true })
      const name = [leavesFile, proofs!.keysFile, ...proofs!.cuts.map((cuts) => cuts.name)][at]
      if (name === undefined) break
      rmSync(join(place, name))
      const seen: bigint[] = []
      const whole = await audit(good, { ...kept, onProgress: ({ version }) => seen.push(version) })
      expect(seen[0], name).toBe(0n)
      expect(whole.findings).toEqual([])
      expect(readdirSync(place)).toEqual(expect.arrayContaining(whole.proofs!.cuts.map((cuts) => cuts.name)))
    }
  })

  it('audits a pruned window from its oldest version, and keeps earlier findings', async () => {
    const { versions } = tampered(createRandom(1), ledger)
    const engine = await storeOf(versions, true)
    const place = newFolder()
    const before = await audit(engine, { folder: place })
    await engine.prune(BigInt(Math.floor(ledger.length / 3)))
    const { oldestVersion } = engine.ledger!
    const record = await audit(engine, { folder: newFolder() })
    expect(record.from).toBe(oldestVersion)
    const given = [...engine.history(STATE_ROOT_KEY)].filter(({ version }) => version > oldestVersion)
    expect(record.compared).toBe(given.length)
    expect(await audit(engine, { folder: place })).toEqual(before)
  })

  it('ends if a prune overtakes it between ranges, and the next one begins at the window', async () => {
    const engine = await storeOf(ledger, true)
    const place = newFolder()
    const ends = new Set<bigint>()
    await audit(engine, { rangeWrites: 40, onProgress: ({ version }) => ends.add(version) })
    const [, before, last] = [...ends]
    let isPruned = false
    const pace = async () => {
      if (isPruned || readAuditRecord(place)?.version !== before) return
      isPruned = true
      // The writes of this range are read already. The next version has lost its deletions, and nothing else.
      await engine.prune(engine.ledger!.latestVersion - last!)
    }
    const overtaken = audit(engine, { folder: place, rangeWrites: 40, pace })
    await expect(overtaken).rejects.toMatchObject({ code: 'version_pruned' })
    const { oldestVersion } = engine.ledger!
    expect([readAuditRecord(place)!.version, oldestVersion]).toEqual([last, last! + 1n])
    const next = await audit(engine, { folder: place, rangeWrites: 40 })
    const anew = await audit(engine)
    expect(next).toMatchObject({ from: oldestVersion, root: anew.root, findings: [], compared: anew.compared })
  })

  it('starts over if a truncation has cut off audited versions', async () => {
    const engine = await storeOf(ledger, true)
    const place = newFolder()
    await audit(engine, { folder: place })
    const cut = good.blockAt(BigInt(ledger.length) / 2n).lastVersion
    await engine.truncateTo(cut)
    await engine.commit(
      ledger.slice(Number(cut) + 1).map((one) => ({ ...one, writes: one.writes.filter(([key]) => isOwnKey(key)) })),
      { chainId: good.ledger!.chainId },
    )
    const record = await audit(engine, { folder: place })
    expect(intervalsOf(record)).toEqual(await expectedFindings(engine))
    expect(record.findings[0]?.goodBefore).toBe(cut)
  })
})

describe.skipIf(!hasSharedData)('the roots of a ledger with metadata', () => {
  it('are found at the end of each of its 56 blocks, and a changed deposit is found', async () => {
    const engine = openStore(0)
    await ingest(engine, sharedPath('data/epochs/made'))
    expect(await audit(engine, { rangeWrites: 50 })).toMatchObject({ compared: 56, findings: [] })
  })
})
