import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import type { StateEngineReader, StateWriter } from '@ledger-state/engine'
import { listStateTrees, openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { ingestSource } from '@ledger-state/ingest'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { type KeepTreeOptions, keepTree } from './keep-tree.js'

const KEYS = 16_000
const SILENT = { update() {}, finish() {} }

const chain = new SyntheticChain({ blocks: 3, signers: true })
chain.extendWithItems(KEYS)
const version = chain.latestVersion
const stateKeys = chain.stateLeaves(Number(version)).length

/** The ledger as a backup, and the store that is filled from it. */
const made = new CommandBed()
beforeAll(async () => {
  mkdirSync(made.at('backup'))
  writeBackup(chain, made.at('backup'), { chunk: 100 })
  writeEndings(made.at('backup'), chain.endings().map(signedLedgerInfo))
  const engine = openStateEngine({ path: made.at('store'), durability: 'none' })
  await ingestBackup(engine)
  await engine.close()
})
afterAll(() => made.close())

let bed: CommandBed
let folder: string
let reader: StateEngineReader
beforeEach(() => {
  bed = new CommandBed()
  folder = bed.at('store')
  cpSync(made.at('store'), folder, { recursive: true })
  reader = openStateEngineReader({ path: folder })
})
afterEach(async () => {
  await reader.close()
  await bed.close()
})

async function ingestBackup(engine: StateWriter, to = version): Promise<void> {
  const waypoints = [`0:${waypointHash(chain.endings()[0]!)}`]
  const source = await openSource(made.at('backup'), { thread: false, waypoints })
  await ingestSource(engine, source, { to })
  await source.close()
}

/** Adds a version above the signed checkpoint. */
async function addBlock(): Promise<void> {
  const engine = openStateEngine({ path: folder, durability: 'none' })
  const { latestBlock, latestVersion, chainId } = engine.ledger!
  const block = { ...latestBlock, height: latestBlock.height + 1n }
  await engine.commit([{ version: latestVersion + 1n, block, writes: [] }], { chainId })
  await engine.close()
}

const how = { kept: 'auto', line: SILENT, threads: 0 } as const

const keep = (options: Partial<KeepTreeOptions> = {}) =>
  keepTree(reader, { kind: 'folder', dataDir: folder }, { ...how, folder, ...options })

const notice = `no tree of the signed version ${version} is kept, as it would take more than a tenth of the disk: \`ledger-state trust keep-tree\` makes it, for proofs`

const bytesOnDisk = () => readdirSync(folder).reduce((sum, name) => sum + statSync(`${folder}/${name}`).blocks * 512, 0)

describe('keepTree', () => {
  it('makes no tree that would take more than a tenth of the disk unless it is asked for, and says so', async () => {
    const most = (reader as unknown as { readonly stats: { readonly keys: number } }).stats.keys * 67 * 9
    expect(bytesOnDisk()).toBeLessThan(most)
    expect(await keep()).toBe(notice)
    // Adds whole blocks of the file system, up to the bound and beyond it.
    const missing = Math.floor((most - bytesOnDisk()) / 4_096) * 4_096
    writeFileSync(`${folder}/data-of-more-versions`, Buffer.alloc(missing, 1))
    expect(bytesOnDisk()).toBeLessThanOrEqual(most)
    expect(await keep()).toBe(notice)
    expect(listStateTrees(folder)).toEqual([])
    writeFileSync(`${folder}/data-of-more-versions`, Buffer.alloc(missing + 8_192, 1))
    expect(await keep()).toMatch(new RegExp(`^the tree of version ${version} is kept, for proofs: 16,`))
    expect(listStateTrees(folder)).toEqual([version])
  })

  it('counts keys that are not merged yet, too', async () => {
    await reader.close()
    const engine = openStateEngine({ path: bed.at('unmerged'), durability: 'none', memtableBytes: 2 ** 26 })
    // The first commit of a store is merged at once.
    await ingestBackup(engine, 0n)
    await ingestBackup(engine)
    try {
      expect(engine.stats.keys).toBeLessThan(1_000)
      expect(
        await keepTree(engine, { kind: 'folder', dataDir: bed.at('unmerged') }, { ...how, folder: bed.at('unmerged') }),
      ).toBe(notice)
      expect(readdirSync(bed.at('unmerged')).filter((name) => name.startsWith('state-'))).toEqual([])
    } finally {
      await engine.close()
    }
  })

  it('compares a tree that lies elsewhere with the store, too', async () => {
    mkdirSync(bed.at('trees'))
    const elsewhere = { folder: bed.at('trees') }
    writeFileSync(`${bed.at('trees')}/of-others`, Buffer.alloc(20_000_000, 1))
    expect(await keep(elsewhere)).toContain('no tree of the signed version')
    writeFileSync(`${folder}/data-of-more-versions`, Buffer.alloc(20_000_000, 1))
    expect(await keep(elsewhere)).toContain(`the tree of version ${version} is kept`)
    expect(listStateTrees(bed.at('trees'))).toEqual([version])
  })

  it('makes the requested trees at any cost', async () => {
    expect(await keep({ kept: 1 })).toContain(`the tree of version ${version} is kept`)
    expect(statSync(`${folder}/state-tree-${version}`).size).toBeLessThan(stateKeys * 70)
  })

  it('is stopped between two pages, even without threads', async () => {
    const controller = new AbortController()
    const line = { ...SILENT, update: () => setImmediate(() => controller.abort()) }
    await expect(keep({ kept: 1, line, signal: controller.signal })).rejects.toThrow('aborted')
    expect(readdirSync(folder).filter((name) => name.startsWith('state-'))).toEqual([])
  })

  it('leaves nothing of a tree for which the disk is too small', async () => {
    const fewBytes = { prefix: ['prlimit', `--fsize=${64 * stateKeys - 4_096}`] }
    const { status, stderr } = bed.runWith(fewBytes, 'trust', 'keep-tree', '--data-dir', folder)
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^ledger-state: .*store.*EFBIG/)])
    expect(readdirSync(folder).filter((name) => name.startsWith('state-'))).toEqual([])
  })

  it.each(['auto', 1] as const)(
    'leaves nothing of a tree whose version is pruned while it is made, and says so: %s',
    async (kept) => {
      let pruned = ''
      const line = {
        ...SILENT,
        update: () => {
          pruned ||= bed.run('prune', '--data-dir', folder, '--retain', '1').stdout
        },
      }
      writeFileSync(`${folder}/data-of-more-versions`, Buffer.alloc(20_000_000, 1))
      await addBlock()
      const said = await keep({ kept, line }).catch((error: Error) => error)
      expect(pruned).toMatch(new RegExp(`the oldest version is ${version + 1n};`))
      const message = `the tree of version ${version} was not built, because the version was pruned first; a larger --retain leaves more time`
      expect(said).toEqual(kept === 'auto' ? message : expect.objectContaining({ code: 'no_checkpoint', message }))
      expect(readdirSync(folder).filter((name) => name.startsWith('state-'))).toEqual([])
      // Afterwards there is nothing to make.
      if (kept === 'auto') expect(await keep()).toBeUndefined()
      else await expect(keep({ kept })).rejects.toThrow('keeps no signed checkpoint in its window')
    },
  )
})
