// The backup service of a node, read as a backup: what it gives is what a backup in a folder gives.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LedgerHasher } from '@ledger-state/proof'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BackupService, framed, nodeState, serveBackup, startBackupService } from '../../testing/backup-service.ts'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { signedLedgerInfo, waypointHash, writeEndings } from '../../testing/synthetic-epochs.ts'
import type { BackupStorage } from '../files/backup-storage.js'
import { FolderStorage } from '../files/folder-storage.js'
import { readRecords } from '../files/record-file.js'
import { ServiceStorage } from '../service/service-storage.js'
import { openSource } from './open-source.js'
import type { SourceOptions } from './source.js'
import { TrustedEpochs } from './trusted-epochs.js'

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
    for await (const { readTransaction, ...record } of source.versions({ version, mark: source.mark })) {
      // Each chunk has one, and the chunks differ: the last is of the same version.
      checkpoint = record.checkpoint ?? checkpoint
      if (record.version > (version ?? -1n)) {
        found.push({ ...record, checkpoint: undefined, transaction: readTransaction?.() })
      }
    }
    return { found, checkpoint, vouching: source.vouching, endings: source.takeEndings?.().length }
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

  it('gives a window: a state and what follows it, signed', async () => {
    service = await startBackupService(chain)
    const found = await read(at(), BASE)
    expect(found).toEqual(await read(folder, BASE))
    expect(found.vouching?.waypoint).toBe(waypoint)
    expect(service.paths.some((path) => path.startsWith(`/state_range_proof/${BASE}/`))).toBe(true)
    expect(service.paths.filter((path) => path.startsWith('/state_snapshot/'))).toEqual([])
  })

  it('is asked again where it fails, ends early or is cut', async () => {
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

  it('that has pruned what is wanted says so', async () => {
    service = await startBackupService(chain)
    service.oldest = LAST
    await expect(read(at())).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(
        /\/transactions\/0\/\d+ gave less than was asked for \(.*\): the node may have pruned/,
      ),
    })
  })

  it('is asked for its newest version first, whose format is that of all', async () => {
    service = await startBackupService(chain)
    await read(at(), BASE)
    const first = service.paths.find((path) => path.startsWith('/transactions/'))
    expect(first).toBe(`/transactions/${LAST}/1`)
  })

  it('is not taken for one where something else answers', async () => {
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
  const salt = 'DIEM::'

  async function believed(storage: BackupStorage) {
    try {
      const epochs = await TrustedEpochs.open(storage, new LedgerHasher(salt), [
        readFileSync(join(root, 'waypoint.txt'), 'utf8').trim(),
      ])
      return { vouching: await epochs.believeAll(), endings: epochs.takeEndings() }
    } finally {
      await storage.close()
    }
  }

  it('gives the ends of epochs that its folder gives, with signatures that hold', async () => {
    const epochOf = (name: string) => Number(/^epoch_ending_(\d+)-/.exec(name)![1])
    const folders = readdirSync(root).filter((name) => name.startsWith('epoch_ending_'))
    const infos: Buffer[] = []
    for (const name of folders.sort((a, b) => epochOf(a) - epochOf(b))) {
      for await (const records of readRecords(join(root, name, `${epochOf(name)}-.chunk.gz`))) infos.push(...records)
    }
    service = await serveBackup((endpoint, [first, end]) => {
      if (endpoint === 'db_state') return nodeState(BigInt(infos.length), 39_954n)
      return endpoint === 'epoch_ending_ledger_infos' ? framed(infos.slice(Number(first), Number(end))) : 404
    })
    const ofFolder = await believed(new FolderStorage(root))
    expect(ofFolder.vouching.epoch).toBe(64n)
    const ofService = new ServiceStorage(service.url, { hashSalt: salt, sourceFolder: temporary })
    expect(await believed(ofService)).toEqual(ofFolder)
  })
})
