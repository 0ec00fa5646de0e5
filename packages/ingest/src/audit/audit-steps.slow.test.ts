// Audits that are killed at each of their steps, and whose store changes meanwhile.
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLedgerStateError, type Write } from '@ledger-state/core'
import { computeStateRoot } from '@ledger-state/feed'
import { STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { tableItemKey } from '@ledger-state/type-tag'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AuditRecord, readAuditRecord } from './audit-record.js'
import { type AuditRootsOptions, auditRoots } from './audit-roots.js'

let folder: string
const stores: StateEngine[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-steps-'))
})
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  rmSync(folder, { recursive: true })
})

const TABLE = new Uint8Array(32).fill(7)
const numbered = (number: number) => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

let paths = 0
function openStore(): StateEngine {
  const engine = openStateEngine({ path: join(folder, `store-${paths++}`), durability: 'none', memtableBytes: 0 })
  stores.push(engine)
  return engine
}

/** A store of blocks of one version with random writes, each with the root of the state after it. */
async function storeOfBlocks(blocks: number, keys: number): Promise<StateEngine> {
  const random = createRandom(testSeed())
  const engine = openStore()
  const state = new Map<number, Uint8Array>()
  for (let version = 0n; version < blocks; version++) {
    const writes: Write[] = []
    for (const number of new Set(Array.from({ length: 6 }, () => random.below(keys)))) {
      const value = random.below(5) === 0 && version > 0n ? null : Uint8Array.of(random.below(256), number & 255)
      writes.push([tableItemKey(TABLE, numbered(number)), value])
      if (value) state.set(number, value)
      else state.delete(number)
    }
    const entries = [...state].map(([number, value]) => ({
      key: tableItemKey(TABLE, numbered(number)),
      value,
      version,
    }))
    const { root } = await computeStateRoot([entries], { spillFolder: folder, threads: 0 })
    // The ledger has another root for one block.
    if (version === BigInt(Math.floor(blocks / 2))) root[0]! ^= 1
    writes.push([STATE_ROOT_KEY, root])
    await engine.commit([{ version, block: { height: version, epoch: 1n, timestampUsec: version }, writes }], {
      chainId: 4n,
    })
  }
  return engine
}

function audit(engine: StateEngine, place: string, options: Partial<AuditRootsOptions> = {}): Promise<AuditRecord> {
  const target = engine.ledger!.latestVersion
  return auditRoots(engine, { folder: place, hashSalt: 'APTOS::', target, threads: 0, ...options })
}

/** Content of a record about the ledger, without the names of files. */
function findingsOf({ from, version, root, compared, withoutRoot, findings, findingCount, proofs }: AuditRecord) {
  const cuts = proofs && [proofs.cuts[0]!.first, proofs.cuts.at(-1)!.last]
  return { from, version, root, compared, withoutRoot, findings, findingCount, cuts, keys: proofs?.keys }
}

describe('an audit', () => {
  it('finds the same after a kill at each of its steps', async () => {
    const engine = await storeOfBlocks(14, 30)
    const options = { rangeWrites: 30, proofBytes: 1 << 20, proofKeys: 10 }
    const place = join(folder, 'whole')
    const steps: string[] = []
    const keep = () => {
      const copy = join(folder, `step-${steps.length}`)
      cpSync(place, copy, { recursive: true })
      steps.push(copy)
    }
    const whole = findingsOf(await audit(engine, place, { ...options, onProgress: keep, pace: async () => keep() }))
    expect(whole).toMatchObject({ findingCount: 1, findings: [{ firstWrong: 7n, lastWrong: 7n }] })
    const records = steps.map((step) => readAuditRecord(step))
    expect(new Set(records.map((record) => record?.version)).size).toBeGreaterThan(2)
    // A commit writes files, then the record, and then removes the files before: it may be killed between any of them.
    for (let at = 1; at < steps.length; at++) {
      if (records[at]?.version === records[at - 1]?.version) continue
      for (const kept of [at - 1, at]) {
        const between = join(folder, `between-${at}-${kept}`)
        for (const from of kept === at ? [at - 1, at] : [at, at - 1]) {
          cpSync(steps[from]!, between, { recursive: true })
        }
        if (!records[kept]) rmSync(join(between, 'audit.json'))
        steps.push(between)
      }
    }
    for (const step of steps) {
      expect(findingsOf(await audit(engine, step, options)), step).toEqual(whole)
      // Asked again, it has nothing left to do, and no files of the killed one.
      const record = await audit(engine, step, options)
      expect(findingsOf(record), step).toEqual(whole)
      const files = [record.leavesFile, record.proofs!.keysFile, ...record.proofs!.cuts.map(({ name }) => name)]
      expect(readdirSync(step).sort(), step).toEqual(['audit.json', ...files].sort())
    }
  })

  it('goes on if a prune or a truncation comes at any of its steps', async () => {
    for (const change of ['prune', 'truncate'] as const) {
      let isOver = false
      for (let step = 1; !isOver; step += 11) {
        const engine = await storeOfBlocks(16, 20)
        const place = join(folder, `${change}-${step}`)
        let count = 0
        const pace = async () => {
          if (++count !== step) return
          if (change === 'prune') await engine.prune(6n)
          else await engine.truncateTo(9n)
        }
        let record: AuditRecord | undefined
        try {
          record = await audit(engine, place, { rangeWrites: 20, proofBytes: 1 << 20, pace })
        } catch (error) {
          if (!isLedgerStateError(error, 'version_pruned', 'version_truncated', 'version_not_found')) throw error
        }
        isOver = count < step
        const { oldestVersion, latestVersion } = engine.ledger!
        const next = await audit(engine, place, { rangeWrites: 20 })
        expect(next.version).toBe(latestVersion)
        const anew = await audit(engine, join(folder, `anew-${change}-${step}`))
        expect([next.root, next.version], `${change} ${step} ${record?.version}`).toEqual([anew.root, anew.version])
        // Later audits begin at the window; this one may have begun before.
        expect(next.from <= oldestVersion).toBe(true)
        const wrong = (found: AuditRecord) => found.findings.map(({ firstWrong }) => firstWrong)
        expect(wrong(next)).toEqual(expect.arrayContaining(wrong(anew)))
      }
    }
  })
})
