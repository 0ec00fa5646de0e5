// The backup service of a node, read as a backup. It gives the same as a backup in a folder.
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { LedgerHasher } from '@ledger-state/proof'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BackupService, nodeState, startBackupService } from '../../testing/backup-service.ts'
import { serveFolder } from '../../testing/served-backup.ts'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { signedLedgerInfo, waypointHash, writeEndings } from '../../testing/synthetic-epochs.ts'
import type { BackupStorage } from '../files/backup-storage.js'
import { FolderStorage } from '../files/folder-storage.js'
import { ServiceStorage } from '../service/service-storage.js'
import { openSource } from './open-source.js'
import type { SourceOptions } from './source.js'
import { VerifiedEpochs } from './verified-epochs.js'

const chain = new SyntheticChain({ blocks: 30, signers: true })
const made = chain.endings()
const waypoint = `0:${waypointHash(made[0]!)}`
const BASE = Number(made[2]!.version)
const LAST = Number(chain.latestVersion)

let folder: string
let service: BackupService
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-service-'))
  writeBackup(chain, folder, { format: 'V1', snapshot: { version: BASE, chunk: 1_000 } })
  writeEndings(folder, made.map(signedLedgerInfo))
})
afterAll(() => rmSync(folder, { recursive: true }))

let temporary: string
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'copies-'))
  vi.stubEnv('TMPDIR', temporary)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await service.close()
  rmSync(temporary, { recursive: true })
})

async function read(location: string, since?: number, options: SourceOptions = {}) {
  const window = since === undefined ? undefined : { since: { version: BigInt(since) }, words: String(since) }
  const source = await openSource(location, { thread: false, waypoints: [waypoint], window, ...options })
  const found: unknown[] = []
  let checkpoint: Uint8Array | undefined
  try {
    for await (const part of source.base?.parts(undefined) ?? []) found.push(...part.entries)
    const version = source.base?.version
    for await (const { readTransaction, readWhole: _, ...record } of source.versions({ version, mark: source.mark })) {
      // Each chunk has a checkpoint. They differ between chunks, though the last version has the same one.
      checkpoint = record.checkpoint ?? checkpoint
      if (record.version > (version ?? -1n)) {
        found.push({ ...record, checkpoint: undefined, transaction: readTransaction?.() })
      }
    }
    return { found, checkpoint, trustedState: source.trustedState, endings: source.takeEndings?.().length }
  } finally {
    await source.close()
  }
}

const at = () => `backup+${service.url}`

describe('the backup service of a node', () => {
  it.each(['V0', 'V1'] as const)('gives transactions, with or without auxiliary info: %s', async (format) => {
    service = await startBackupService(chain, format)
    const given = await read(at())
    expect(given).toEqual(await read(folder))
    expect(given.checkpoint).toBeDefined()
    expect(readdirSync(temporary)).toEqual([])
  })

  it('gives a window: a state and the following versions, signed', async () => {
    service = await startBackupService(chain)
    const found = await read(at(), BASE)
    expect(found).toEqual(await read(folder, BASE))
    expect(found.trustedState?.waypoint).toBe(waypoint)
    expect(service.paths.some((path) => path.startsWith(`/state_range_proof/${BASE}/`))).toBe(true)
    expect(service.paths.filter((path) => path.startsWith('/state_snapshot/'))).toEqual([])
  })

  it('is asked again if it fails, ends early or is cut', async () => {
    service = await startBackupService(chain)
    service.faultOf = (path, before) => {
      if (before > 0) return undefined
      if (path.startsWith('/transactions/0/'))
        return (response, body) => response.end(body.subarray(0, body.length - 40))
      if (path.startsWith('/state_snapshot_chunk')) {
        return (response, body) => response.write(body.subarray(0, 100), () => response.destroy())
      }
      return (response) => response.writeHead(503, { 'retry-after': '0' }).end()
    }
    const options = { onNotice: () => {} }
    expect((await read(at(), BASE, options)).found).toEqual((await read(folder, BASE)).found)
  })

  it('begins, without a window, with the first version that the node has not pruned', async () => {
    service = await startBackupService(chain)
    service.oldest = LAST - 3
    const { found } = await read(at())
    expect(found.map((record) => (record as { readonly version: bigint }).version)).toEqual(
      [3, 2, 1, 0].map((before) => BigInt(LAST - before)),
    )
  })

  it('gives a window since the oldest state of the node, even if nothing before it is left', async () => {
    service = await startBackupService(chain)
    service.oldest = BASE + 1
    service.oldestState = BASE
    expect((await read(at(), BASE)).found).toEqual((await read(folder, BASE)).found)
    // A request for an earlier version would be refused.
    expect(service.paths).toContain(`/transactions/${BASE + 1}/${LAST - BASE}`)
    expect((await read(at(), Number(made[3]!.version) - 1)).found).toEqual((await read(folder, BASE)).found)
  })

  it.each([
    ['transactions', { oldest: Number(made[1]!.version) + 2, oldestState: 0 }],
    ['states', { oldest: 0, oldestState: Number(made[1]!.version) + 1 }],
    ['both', { oldest: Number(made[1]!.version) + 2, oldestState: Number(made[0]!.version) }],
  ])('refuses a window from before the oldest %s, and says which one can be had', async (pruned, held) => {
    service = await startBackupService(chain)
    Object.assign(service, held)
    const since = Number(made[2]!.version) - 1
    if (pruned === 'states') {
      // All transactions since the genesis are there.
      expect((await read(at(), since)).found.length).toBe(LAST + 1)
      return
    }
    const time = new Date(Number(made[2]!.timestampUsec! / 1_000n)).toISOString().replaceAll('.', '\\.')
    await expect(read(at(), since)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(
        new RegExp(
          `cannot begin at version ${since}: its oldest state is at version ${BASE} \\(${time}\\), .*; begin there or later, or`,
        ),
      ),
    })
    expect(service.paths.filter((path) => /snapshot_chunk|range_proof/.test(path))).toEqual([])
  })

  it('says which versions are left on a node that prunes while it is read', async () => {
    service = await startBackupService(chain)
    service.oldestState = BASE
    service.faultOf = (path) => {
      if (!path.startsWith('/state_range_proof')) return undefined
      service.oldest = BASE + 5
      return undefined
    }
    await expect(read(at(), BASE)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(
        new RegExp(
          `^the node at .* has now pruned version ${BASE + 1}: its transactions begin with version ${BASE + 5}; begin`,
        ),
      ),
    })
    service.oldest = 0
    service.faultOf = (path) => {
      if (path.startsWith('/state_root_proof')) service.oldestState = LAST
      return undefined
    }
    await expect(read(at(), BASE)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(new RegExp(`has now pruned its state at version ${BASE}; start again`)),
    })
  })

  it('is not taken to have pruned a version that it fails to give once', async () => {
    service = await startBackupService(chain)
    const failed = new Set<string>()
    service.faultOf = (path, before) => {
      const endpoint = path.split('/')[1]!
      if (before > 0 || failed.has(endpoint)) return undefined
      failed.add(endpoint)
      return (response) => {
        if (endpoint !== 'transactions') return response.writeHead(500).end()
        response.writeHead(200).flushHeaders()
        response.socket!.destroy()
      }
    }
    expect((await read(at(), BASE, { onNotice: () => {} })).found).toEqual((await read(folder, BASE)).found)
    expect([...failed]).toEqual(expect.arrayContaining(['transactions', 'state_item_count', 'state_root_proof']))
  })

  it('is asked first for its newest version, which it surely has, in the format of all versions', async () => {
    service = await startBackupService(chain)
    await read(at(), BASE)
    const first = service.paths.find((path) => path.startsWith('/transactions/'))
    expect(first).toBe(`/transactions/${LAST}/1`)
  })

  it.each([
    ['epochs', nodeState(2n ** 63n, 10n)],
    ['versions', nodeState(3n, 2n ** 63n)],
  ])('is refused if it claims more %s than a ledger has', async (what, state) => {
    service = await startBackupService(chain)
    service.faultOf = (path) => (path.endsWith('/db_state') ? (response) => void response.end(state) : undefined)
    await expect(read(at())).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(new RegExp(`claims \\d{19} ${what}; the limit is \\d+$`)),
    })
  })

  it('is refused if its records or its small answers do not end', async () => {
    service = await startBackupService(chain)
    const endless = (response: ServerResponse) => {
      const piece = Buffer.alloc(1 << 16)
      const more = () => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', more)
      more()
    }
    service.faultOf = (path) => (path.includes('/epoch_ending_ledger_infos/') ? endless : undefined)
    await expect(read(at())).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/answered more than/),
    })
    service.faultOf = (path) => (path.endsWith('/db_state') ? endless : undefined)
    await expect(read(at())).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/answered more than/),
    })
  })

  it('is refused if a record is longer than records can be, before it has come', async () => {
    service = await startBackupService(chain)
    const long = (response: ServerResponse) => response.write(Buffer.from('02000001', 'hex'))
    service.faultOf = (path) => (path.includes('/transactions/') ? long : undefined)
    await expect(read(at())).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/answered a record of 33554433 bytes; the limit is 33554432$/),
    })
  })

  it('is not recognized if something else answers', async () => {
    service = await startBackupService(chain)
    await expect(read(`${at()}/v1`)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/\/v1\/db_state answered 404: it is not the backup service of a node/),
    })
    await expect(read(`backup+http://user:secret@127.0.0.1:1`)).rejects.toThrow(/user name or password/)
  })
})

describe.skipIf(!hasSharedData)('the backup service of a real chain (skipped without ../shared)', () => {
  const root = sharedPath('data/epochs/chain-a')
  const stretch = sharedPath('data/backup/transaction_1-.90bf')
  const salt = 'DIEM::'

  const range = () => {
    const [chunk, proof] = ['1-.chunk.gz', '1-20000.proof.gz'].map((name) => join(stretch, name)) as [string, string]
    return { chunk, proof, first: 1, last: 20_000 }
  }

  async function verified(storage: BackupStorage) {
    try {
      const epochs = await VerifiedEpochs.open(storage, new LedgerHasher(salt), [
        readFileSync(join(root, 'waypoint.txt'), 'utf8').trim(),
      ])
      return { trustedState: await epochs.verifyAll(), endings: epochs.takeEndings() }
    } finally {
      await storage.close()
    }
  }

  it('gives the epoch changes that its folder gives, with signatures that hold', async () => {
    service = await serveFolder(root, range(), salt, 64)
    const ofFolder = await verified(new FolderStorage(root))
    expect(ofFolder.trustedState.epoch).toBe(64n)
    const ofService = new ServiceStorage(service.url, { hashSalt: salt, sourceFolder: temporary })
    expect(await verified(ofService)).toEqual(ofFolder)
  })

  it('gives the transactions that its folder gives, in other chunks, proven and signed', async () => {
    const backup = join(temporary, 'backup')
    cpSync(root, backup, { recursive: true })
    cpSync(stretch, join(backup, 'transaction_1-.90bf'), { recursive: true })
    cpSync(sharedPath('data/backup/transaction_1-20000.meta.gz'), join(backup, 'metadata/transaction_1-20000.meta.gz'))
    service = await serveFolder(root, range(), salt)

    async function digestOf(location: string) {
      const trusted = readFileSync(join(root, 'waypoint.txt'), 'utf8').trim()
      const source = await openSource(location, { hashSalt: salt, waypoints: [trusted] })
      const digest = createHash('sha256')
      let [count, writes] = [0, 0]
      for await (const { checkpoint: _, readTransaction, readWhole: __, ...record } of source.versions()) {
        digest.update(serialize({ ...record, transaction: readTransaction?.() }))
        count++
        writes += record.writes.length
      }
      const { trustedState, mark } = source
      await source.close()
      return { digest: digest.digest('hex'), count, writes, trustedState, mark }
    }
    const ofService = await digestOf(at())
    expect(ofService).toMatchObject({ count: 20_000, writes: 69_212, trustedState: { epoch: 33n } })
    expect(ofService).toEqual(await digestOf(backup))
    const asked = service.paths.filter((path) => /^\/transaction(s|_range_proof)\/\d+\/(?!1$)/.test(path))
    expect(asked.sort()).toEqual([
      '/transaction_range_proof/1/19999',
      '/transaction_range_proof/20000/20000',
      '/transactions/1/19999',
    ])
  })
})
