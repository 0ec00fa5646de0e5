import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHexDigits, hexToBytes, type KeyedEntry, type VersionWrites, type Write } from '@ledger-state/core'
import { type EngineView, readEach } from '@ledger-state/engine'
import { type BlockState, computeStateRoot, createBlockPaths } from '@ledger-state/feed'
import { LedgerHasher, rootOfStatePath, SPARSE_MERKLE_PLACEHOLDER, type StatePath } from '@ledger-state/proof'
import { annotationToNote, isOwnKey, noteToAnnotation, STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngine, openStateEngineReader, type StateEngine } from '@ledger-state/state-engine'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { encodeStateValue } from '@ledger-state/type-tag'
import { afterAll, describe, expect, it } from 'vitest'
import type { AuditRecord } from './audit-record.js'
import { type AuditRootsOptions, auditRoots } from './audit-roots.js'

const SALT = 'APTOS::'
const ENOUGH = 2 ** 40
const hasher = new LedgerHasher(SALT)
const folder = mkdtempSync(join(tmpdir(), 'audit-proofs-'))
let names = 0
const newPath = () => join(folder, String(names++))
const stores: StateEngine[] = []
afterAll(async () => {
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true })
})

/** The definition of the tree: a subtree with one leaf is that leaf. Shares no code with the audit. */
function rootByDefinition(leaves: readonly (readonly [keyHash: Uint8Array, leaf: Uint8Array])[], bit = 0): Uint8Array {
  const [one, two] = leaves
  if (!one) return SPARSE_MERKLE_PLACEHOLDER
  if (!two) return one[1]
  const half = (isRight: number) => leaves.filter(([key]) => ((key[bit >> 3]! >> (7 - (bit & 7))) & 1) === isRight)
  const [left, right] = [rootByDefinition(half(0), bit + 1), rootByDefinition(half(1), bit + 1)]
  return hasher.hashPair('SparseMerkleInternal', left, right)
}

function valueHash({ value, annotation }: Pick<KeyedEntry, 'value' | 'annotation'>): Uint8Array {
  const metadata = annotation && annotationToNote(annotation).metadata
  return hasher.hash('StateValue', encodeStateValue({ value, metadata }))
}

/** The root of a version, from the whole state. */
function rootAt(engine: StateEngine, version: bigint): string {
  const leaves = [...engine.at(version).scan(new Uint8Array(0))]
    .filter(({ key }) => !isOwnKey(key))
    .map((entry) => {
      const keyHash = hasher.hash('StateKey', entry.key)
      return [keyHash, hasher.hashPair('SparseMerkleLeafNode', keyHash, valueHash(entry))] as const
    })
  return bytesToHexDigits(rootByDefinition(leaves))
}

/** A random ledger of blocks: keys are written, deleted and written again; the last block has a root. */
class RandomLedger {
  readonly path = newPath()
  readonly engine: StateEngine
  readonly keys = new Set<string>()
  readonly ends: bigint[] = []
  readonly #random: Random
  readonly #names: number
  #next = 0n

  constructor(random: Random, names: number, isMerged: boolean) {
    this.#random = random
    this.#names = names
    this.engine = openStateEngine({ path: this.path, durability: 'none', ...(isMerged && { memtableBytes: 0 }) })
    stores.push(this.engine)
  }

  async extend(blocks: number): Promise<void> {
    const random = this.#random
    for (let count = 0; count < blocks; count++) {
      const versions: VersionWrites[] = []
      const first = this.#next
      for (let left = 1 + random.below(4); left > 0; left--) {
        const block = this.#next === first ? { height: first, epoch: 0n, timestampUsec: first } : undefined
        versions.push({ version: this.#next++, ...(block && { block }), writes: this.#writes() })
      }
      await this.engine.commit(versions, { chainId: 4n })
      this.ends.push(this.#next - 1n)
    }
    const height = this.#next
    const pages = [[...this.engine.at().scan(new Uint8Array(0))]]
    const { root } = await computeStateRoot(pages, { spillFolder: folder, threads: 0 })
    const block = { height, epoch: 0n, timestampUsec: height }
    await this.engine.commit([{ version: height, block, writes: [[STATE_ROOT_KEY, root]] }], { chainId: 4n })
    this.ends.push(this.#next++)
  }

  #writes(): Write[] {
    const random = this.#random
    const writes = Array.from({ length: random.below(9) }, (): Write => {
      const name = random.below(this.#names)
      const key = Uint8Array.of(1, name >> 8, name, ...new Uint8Array(name % 40))
      if (random.below(3) === 0) return [key, null]
      const value = random.bytes(random.below(150))
      const metadata = { slotDeposit: BigInt(name), bytesDeposit: undefined, creationTimeUsec: 5n }
      return random.below(2) === 0 ? [key, value] : [key, value, noteToAnnotation({ metadata, isCreation: false })!]
    })
    const unique = new Map(writes.map((write) => [bytesToHexDigits(write[0]), write]))
    for (const key of unique.keys()) this.keys.add(key)
    return [...unique.values()]
  }
}

function audit(engine: StateEngine, auditFolder: string, options: Partial<AuditRootsOptions> = {}) {
  const target = [...engine.history(STATE_ROOT_KEY)][0]!.version
  const settings = { hashSalt: SALT, target, threads: 0, proofBytes: ENOUGH, proofKeys: 5 }
  return auditRoots(engine, { folder: auditFolder, ...settings, ...options })
}

function openPaths(auditFolder: string, record: AuditRecord) {
  const paths = createBlockPaths(auditFolder, SALT)
  expect(paths.use(record.proofs!)).toBe(true)
  return paths
}

/** The state of a block, read from a view. */
const stateOf = (view: EngineView): BlockState => ({
  version: view.version,
  readEach: (keys, visit) => readEach(view, keys, visit),
})

const work = { turn: async () => {}, hold: () => {} }

/** Expects that a path proves the value, or the absence, of a key. */
function expectProof(engine: StateEngine, version: bigint, key: Uint8Array, path: StatePath, root: string): void {
  const keyHash = hasher.hash('StateKey', key)
  expect(bytesToHexDigits(rootOfStatePath(hasher, path, keyHash))).toBe(root)
  const found = engine.at(version).getEntry(key)
  const own = path.leaf && bytesToHexDigits(path.leaf.keyHash) === bytesToHexDigits(keyHash)
  expect(own ?? false).toBe(found !== undefined)
  if (found) expect(bytesToHexDigits(path.leaf!.valueHash)).toBe(bytesToHexDigits(valueHash(found)))
}

/** Expects paths of all keys, and of some that never were, at these ends, each asked twice. */
async function expectProofs(ledger: RandomLedger, auditFolder: string, record: AuditRecord, ends: readonly bigint[]) {
  const { engine } = ledger
  const paths = openPaths(auditFolder, record)
  const absent = [0, 1, 2].map((name) => Uint8Array.of(9, name))
  try {
    for (const version of ends) {
      const root = rootAt(engine, version)
      const state = stateOf(engine.at(version))
      const keys = [...[...ledger.keys].map((name) => hexToBytes(`0x${name}`)), ...absent]
      for (const asked of [keys, keys.slice(0, 4)]) {
        for (const key of asked) {
          const path = await paths.pathOf(state, key, work)
          expectProof(engine, version, key, path!, root)
        }
      }
    }
  } finally {
    paths.close()
  }
}

const filesOf = (auditFolder: string) => readdirSync(auditFolder).sort()
const expectedFiles = ({ leavesFile, proofs }: AuditRecord) =>
  ['audit.json', leavesFile, ...(proofs ? [proofs.keysFile, ...proofs.cuts.map(({ name }) => name)] : [])].sort()

describe(`proofs at ends of blocks (TEST_SEED=${testSeed()})`, () => {
  it.each([
    { keys: 3, proofKeys: 1, isMerged: true },
    { keys: 40, proofKeys: 4, isMerged: false },
    { keys: 60, proofKeys: 1_000, isMerged: true },
    // As deep as cuts can be.
    { keys: 20, proofKeys: 0.001, isMerged: true },
  ])('exist at every end, for every key, from ranges of any size: %o', async ({ keys, proofKeys, isMerged }) => {
    const random = createRandom(testSeed() + keys)
    const ledger = new RandomLedger(random, keys, isMerged)
    const auditFolder = newPath()
    for (const blocks of [1, 7, 4]) {
      await ledger.extend(blocks)
      const record = await audit(ledger.engine, auditFolder, { proofKeys, rangeWrites: 10 + random.below(60) })
      expect(record).toMatchObject({ findingCount: 0, version: ledger.ends.at(-1) })
      await expectProofs(ledger, auditFolder, record, ledger.ends)
      const paths = openPaths(auditFolder, record)
      for (let version = 0n; version <= record.version + 2n; version++) {
        expect(paths.endUpTo(version)).toBe(ledger.ends.findLast((end) => end <= version))
        expect(paths.endAfter(version)).toBe(ledger.ends.find((end) => end > version))
        if (ledger.ends.includes(version)) continue
        const state = { version, readEach: async () => {} }
        expect(await paths.pathOf(state, Uint8Array.of(1), work)).toBeUndefined()
      }
      paths.close()
      expect(filesOf(auditFolder)).toEqual(expectedFiles(record))
    }
  })

  it('are of fewer ends if the budget is small: each end of the newest versions, and some before', async () => {
    const ledger = new RandomLedger(createRandom(testSeed()), 60, true)
    await ledger.extend(100)
    const all = newPath()
    const whole = await audit(ledger.engine, all, { rangeWrites: 300, proofKeys: 1 })
    const bytes = (record: AuditRecord) => record.proofs!.cuts.reduce((sum, one) => sum + one.bytes, 0)
    const keysBytes = whole.proofs!.keysBytes
    for (const share of [0.4, 0.01]) {
      const auditFolder = newPath()
      const proofBytes = Math.round(keysBytes + bytes(whole) * share)
      const record = await audit(ledger.engine, auditFolder, { rangeWrites: 300, proofKeys: 1, proofBytes })
      const onDisk = filesOf(auditFolder).filter((name) => /^(keys|cuts)/.test(name))
      const used = onDisk.reduce((sum, name) => sum + statSync(join(auditFolder, name)).size, 0)
      expect(used).toBe(record.proofs!.keysBytes + bytes(record))
      if (share > 0.1) expect(used).toBeLessThanOrEqual(proofBytes)
      const paths = openPaths(auditFolder, record)
      const ends: bigint[] = []
      for (let end = paths.endAfter(-1n); end !== undefined; end = paths.endAfter(end)) ends.push(end)
      paths.close()
      expect(ends.length).toBeLessThan(ledger.ends.length)
      expect(ledger.ends).toEqual(expect.arrayContaining(ends))
      expect(ends.at(-1)).toBe(record.version)
      for (const { first, last, spacing } of record.proofs!.cuts) {
        const within = ledger.ends.filter((end) => end >= first && end <= last)
        const kept = ends.filter((end) => end >= first && end <= last)
        const expected = within.filter(
          (end, at) => at === within.length - 1 || end / spacing !== within[at + 1]! / spacing,
        )
        expect(kept).toEqual(expected)
      }
      await expectProofs(ledger, auditFolder, record, ends.slice(-6))
      await expectProofs(ledger, auditFolder, record, ends.slice(0, 3))
    }
  })

  it('start over with a budget that is set later, end with a budget of 0, and stay without one', async () => {
    const ledger = new RandomLedger(createRandom(testSeed()), 30, true)
    await ledger.extend(6)
    const auditFolder = newPath()
    const without = await audit(ledger.engine, auditFolder, { proofBytes: undefined })
    expect(without.proofs).toBeUndefined()
    expect(filesOf(auditFolder)).toEqual(expectedFiles(without))
    const asked = await audit(ledger.engine, auditFolder)
    await expectProofs(ledger, auditFolder, asked, ledger.ends)
    await ledger.extend(6)
    const kept = await audit(ledger.engine, auditFolder, { proofBytes: undefined })
    await expectProofs(ledger, auditFolder, kept, ledger.ends)
    const ended = await audit(ledger.engine, auditFolder, { proofBytes: 0 })
    expect(ended).toMatchObject({ version: kept.version, compared: kept.compared })
    expect(ended.proofs).toBeUndefined()
    expect(filesOf(auditFolder)).toEqual(expectedFiles(ended))
  })

  it('follow a prune, for readers that had the files open', async () => {
    const ledger = new RandomLedger(createRandom(testSeed()), 40, true)
    await ledger.extend(12)
    const auditFolder = newPath()
    const before = await audit(ledger.engine, auditFolder)
    const early = openPaths(auditFolder, before)
    await ledger.engine.prune(ledger.ends.at(-1)! - ledger.ends[8]!)
    const { oldestVersion } = ledger.engine.ledger!
    await ledger.extend(4)
    const pruned = await audit(ledger.engine, auditFolder)
    const readable = ledger.ends.filter((end) => end >= oldestVersion)
    await expectProofs(ledger, auditFolder, pruned, readable)
    // Another reader, of another engine, still has the earlier files.
    const reader = openStateEngineReader({ path: ledger.path })
    const version = readable.filter((end) => end <= before.version).at(-1)!
    const view = reader.at(version)
    const key = hexToBytes(`0x${[...ledger.keys][0]!}`)
    const path = await early.pathOf(stateOf(view), key, work)
    expectProof(ledger.engine, version, key, path!, rootAt(ledger.engine, version))
    // Its next look finds that they are gone, and then the new ones.
    expect(early.use(before.proofs!)).toBe(false)
    expect(early.use(pruned.proofs!)).toBe(true)
    expect(early.endUpTo(pruned.version)).toBe(pruned.version)
    early.close()
    await reader.close()
  })

  it('are refused if a value or a file differs from the audited one', async () => {
    const ledger = new RandomLedger(createRandom(testSeed()), 40, true)
    await ledger.extend(10)
    const auditFolder = newPath()
    const record = await audit(ledger.engine, auditFolder)
    const paths = openPaths(auditFolder, record)
    const version = ledger.ends.at(-1)!
    const view = ledger.engine.at(version)
    const entries = [...view.scan(new Uint8Array(0))].filter(({ key }) => !isOwnKey(key))
    for (const { key } of entries.slice(0, 5)) {
      const isKey = (one: Uint8Array) => bytesToHexDigits(one) === bytesToHexDigits(key)
      for (const wrong of [undefined, { value: Uint8Array.of(1, 2, 3) }]) {
        const readWrong: BlockState['readEach'] = (keys, visit) =>
          readEach(view, keys, (one, found) => visit(one, isKey(one) ? wrong : found))
        const state = { version, readEach: readWrong }
        await expect(paths.pathOf(state, key, work)).rejects.toMatchObject({ code: 'state_tree_damaged' })
      }
      // The question after a failed one is answered.
      const path = await paths.pathOf(stateOf(view), key, work)
      expectProof(ledger.engine, version, key, path!, rootAt(ledger.engine, version))
      break
    }
    paths.close()
  })
})
