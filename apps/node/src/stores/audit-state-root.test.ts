import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { feedHeaderLine, openSource, stateToFeedLine, versionToFeedLine } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { ingestSource } from '@ledger-state/ingest'
import { isOwnKey, STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { auditStateRoot } from './audit-state-root.js'
import { auditedStore } from './audited-store.js'

const folder = mkdtempSync(join(tmpdir(), 'audit-'))
const place = { kind: 'folder', dataDir: folder } as const
const backup = join(folder, 'backup')
const chain = new SyntheticChain({ blocks: 20 })
writeBackup(chain, backup)
afterAll(() => rmSync(folder, { recursive: true }))

async function ingest(engine: StateWriter, path: string): Promise<void> {
  const source = await openSource(path, { thread: false })
  await ingestSource(engine, source)
  await source.close()
}

let engine: StateWriter
beforeEach(() => {
  engine = createMemoryEngine()
})
afterEach(() => engine.close())

/** Versions for which the ledger has a root. */
function rootVersions(): bigint[] {
  return [...engine.history(STATE_ROOT_KEY, { order: 'asc' })].map(({ version }) => version)
}

describe('auditStateRoot', () => {
  it('finds the root of the ledger at the end of each block', async () => {
    await ingest(engine, backup)
    const versions = rootVersions()
    expect(versions.length).toBeGreaterThan(15)
    for (const version of versions) {
      expect(await auditStateRoot(engine, place, { version, threads: 0 })).toMatch(
        new RegExp(`^state root of version ${version}: [0-9a-f]{64}, as the ledger says \\(not signed\\)$`),
      )
    }
    const [first, second] = versions as [bigint, bigint]
    expect(await auditStateRoot(engine, place, { version: second - 1n, threads: 0 })).toContain(`version ${first}:`)
  })

  it('says the same of engines whose reads are promises, and of a store on disk', async () => {
    await ingest(engine, backup)
    const expected = await auditStateRoot(engine, place, { threads: 0 })
    expect(await auditStateRoot(engineToAsync(engine), place, { threads: 0 })).toBe(expected)
    const stored = openStateEngine({ path: join(folder, 'store'), durability: 'none' })
    await ingest(stored, backup)
    expect(await auditStateRoot(stored, place, { threads: 0 })).toBe(expected)
    await stored.close()
  })

  it('shows a value, a deletion or metadata that the chain does not have', async () => {
    await ingest(engine, backup)
    const { latestVersion, latestBlock, chainId } = engine.ledger!
    const [entry] = [...engine.at().scan(new Uint8Array(0))].filter(({ key }) => !isOwnKey(key))
    const root = engine.at().get(STATE_ROOT_KEY)!
    const { key, value } = entry!
    const annotated = Uint8Array.of(4, 1, 2, 3, 4, 5, 6)
    const changes = [
      [key, Uint8Array.of(...value, 1)],
      [key, null],
      [key, value, annotated],
    ] as const
    const version = latestVersion + 1n
    const block = { ...latestBlock, height: latestBlock.height + 1n }
    for (const change of changes) {
      await engine.commit([{ version, block, writes: [change, [STATE_ROOT_KEY, root]] }], { chainId })
      await expect(auditStateRoot(engine, place, { threads: 0 })).rejects.toMatchObject({
        code: 'state_root_differs',
        message: expect.stringMatching(
          /^state root of version \d+: .* has [0-9a-f]{64}, but the ledger says [0-9a-f]{64}/,
        ),
      })
      await engine.truncateTo(latestVersion)
    }
    expect(await auditStateRoot(engine, place, { threads: 0 })).toContain('as the ledger says')
  })

  it('says where the ledger has no root, or no version', async () => {
    await expect(auditStateRoot(engine, place, { threads: 0 })).rejects.toMatchObject({ code: 'no_ledger' })
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
    await expect(auditStateRoot(engine, place, { threads: 0 })).rejects.toMatchObject({ code: 'state_root_unknown' })
    await expect(auditStateRoot(engine, place, { version: 9n })).rejects.toMatchObject({ code: 'version_not_found' })
  })

  it('takes no root from before the window', async () => {
    await ingest(engine, backup)
    const versions = rootVersions()
    await engine.prune(5n)
    const { oldestVersion } = engine.ledger!
    await expect(auditStateRoot(engine, place, { version: versions[0]! })).rejects.toMatchObject({
      code: 'version_pruned',
    })
    const within = versions.filter((version) => version >= oldestVersion)
    for (const reader of [engine, engineToAsync(engine)]) {
      expect(await (await auditedStore(reader)).oldestRootVersion()).toBe(within[0])
    }
    expect(await auditStateRoot(engine, place, { version: within[0]!, threads: 0 })).toContain(`version ${within[0]}:`)
  })
})

describe.skipIf(!hasSharedData)('the root of a ledger with metadata', () => {
  it('is found at the end of each of its 56 blocks, and after its snapshot', async () => {
    await ingest(engine, sharedPath('data/epochs/made'))
    const versions = rootVersions()
    expect(versions).toHaveLength(56)
    for (const version of versions) await auditStateRoot(engine, place, { version, threads: 0 })
    const snapshot = createMemoryEngine()
    await ingest(snapshot, sharedPath('data/epochs/made/state_epoch_5_ver_155.cccc'))
    expect(await auditStateRoot(snapshot, place, { threads: 0 })).toBe(
      await auditStateRoot(engine, place, { version: 155n, threads: 0 }),
    )
    await snapshot.close()
  })

  it.each([0n, 155n])('is found in a store that an export from version %i filled, too', async (first) => {
    await ingest(engine, sharedPath('data/epochs/made'))
    const { chainId, latestVersion } = engine.ledger!
    const { block } = engine.blockAt(first)
    const state = [...engine.at(first).scan(new Uint8Array(0))]
    const lines = [
      feedHeaderLine({ chainId: Number(chainId), base: { version: first, block, complete: true } }),
      stateToFeedLine(state),
      ...[...engine.versions(first + 1n, latestVersion)].map(versionToFeedLine),
    ]
    const feed = join(folder, `from-${first}.ndjson`)
    writeFileSync(feed, lines.join('\n'))
    const filled = createMemoryEngine()
    await ingest(filled, feed)
    for (const version of [first, latestVersion]) {
      expect(await auditStateRoot(filled, place, { version, threads: 0 })).toContain(
        (await auditStateRoot(engine, place, { version, threads: 0 })).split(',')[0],
      )
    }
    await filled.close()
  })
})
