// A kept part of a backup is a backup in a folder, which holds the files that were read and nothing else.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BucketServer, busy, startBucketServer } from '../../testing/bucket-server.ts'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { signedLedgerInfo, waypointHash, writeEndings } from '../../testing/synthetic-epochs.ts'
import { FolderStorage } from '../files/folder-storage.js'
import { openSource } from '../sources/open-source.js'
import type { SourceOptions } from '../sources/source.js'
import { KeepingStorage } from './keeping-storage.js'

const chain = new SyntheticChain({ blocks: 40, signers: true })
const made = chain.endings()
const waypoint = `0:${waypointHash(made[0]!)}`
const BASE = Number(made[3]!.version)
const LAST = Number(chain.latestVersion)

let folder: string
let kept: string
let server: BucketServer
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keeping-'))
  mkdirSync(join(folder, 'e1'))
  writeBackup(chain, join(folder, 'e1'), { chunk: 6, folder: 3, snapshot: { version: BASE, chunk: 20 } })
  writeEndings(join(folder, 'e1'), made.map(signedLedgerInfo), [0, 2])
})
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(async () => {
  server = await startBucketServer(folder)
  kept = mkdtempSync(join(tmpdir(), 'kept-'))
  vi.stubEnv('AWS_ENDPOINT_URL', server.origin)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
  rmSync(kept, { recursive: true })
})

async function read(location: string, since: number | undefined, options: SourceOptions = {}, upTo = LAST) {
  const window = since === undefined ? undefined : { since: { version: BigInt(since) }, words: String(since) }
  const source = await openSource(location, { thread: false, waypoints: [waypoint], window, ...options })
  const found: unknown[] = []
  try {
    for await (const part of source.base?.parts(undefined) ?? []) found.push(...part.entries)
    const version = source.base?.version
    for await (const { readTransaction: _, readWhole: __, ...record } of source.versions({
      version,
      mark: source.mark,
    })) {
      if (record.version <= (version ?? -1n)) continue
      found.push(record)
      if (record.version === BigInt(upTo)) break
    }
    return { found, trustedState: source.trustedState }
  } finally {
    await source.close()
  }
}

const large = () => server.requests.map(({ key }) => key).filter((key) => /-\.chunk|\.proof/.test(key))

describe('a backup that is kept', () => {
  it('is a separate backup, which gives the same without the bucket', async () => {
    const whole = await read('s3://bucket/e1', BASE, { keepFolder: kept })
    expect(readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('drafts'))).toEqual(
      [],
    )
    const again = await read(kept, BASE)
    expect(again).toEqual(whole)
    await expect(read(kept, BASE - 1)).rejects.toThrow(/cannot begin at version \d+: its oldest state is at version/)
  })

  it('is fetched once: kept objects are not requested again', async () => {
    await read('s3://bucket/e1', BASE, { keepFolder: kept }, BASE + 20)
    server.requests.length = 0
    const whole = await read('s3://bucket/e1', BASE, { keepFolder: kept })
    const first = large()
    expect(first.some((key) => key.includes('state_') || key.includes('epoch_ending'))).toBe(false)
    server.requests.length = 0
    expect(await read('s3://bucket/e1', BASE, { keepFolder: kept })).toEqual(whole)
    expect(large()).toEqual([])
  })

  it('names the versions that were read, even if the last stretch has more', async () => {
    await read('s3://bucket/e1', BASE, { keepFolder: kept }, BASE + 2)
    const found = (await read(kept, BASE)).found as { version: bigint }[]
    const last = found.at(-1)!.version
    expect(last).toBeGreaterThanOrEqual(BigInt(BASE + 2))
    expect(last).toBeLessThan(BigInt(LAST))
    const lines = readdirSync(join(kept, 'metadata'))
      .map((name) => readFileSync(join(kept, 'metadata', name), 'utf8'))
      .filter((text) => text.includes('TransactionBackup'))
    expect(lines.join('')).toContain(`"last_version":${last},`)
  })

  it('is filled by several processes at once', async () => {
    const whole = await read('s3://bucket/e1', BASE)
    const all = await Promise.all([0, 1, 2].map(() => read('s3://bucket/e1', BASE, { keepFolder: kept })))
    expect(all).toEqual([whole, whole, whole])
    expect(await read(kept, BASE)).toEqual(whole)
    expect(readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('drafts'))).toEqual(
      [],
    )
  })

  it('lists the versions that several processes have read, whoever read last', async () => {
    const storages = [0, 1].map(() => new KeepingStorage(new FolderStorage(join(folder, 'e1')), kept))
    const manifest = `${readdirSync(join(folder, 'e1')).find((name) => name.startsWith('transaction_'))}/transaction.manifest`
    const entry = { manifest, firstVersion: 0n, lastVersion: 17n }
    for (const [at, first] of [0n, 6n, 12n].entries()) {
      await storages[at % 2]!.keepTransactions(entry, { firstVersion: first, lastVersion: first + 5n })
    }
    const [name] = readdirSync(join(kept, 'metadata'))
    expect(readFileSync(join(kept, 'metadata', name!), 'utf8')).toContain('"first_version":0,"last_version":17,')
  })

  it('forgets nothing that it lists while the list cannot be read', async () => {
    const manifest = `${readdirSync(join(folder, 'e1')).find((name) => name.startsWith('transaction_'))}/transaction.manifest`
    const entry = { manifest, firstVersion: 0n, lastVersion: 17n }
    const keep = (firstVersion: bigint, lastVersion: bigint) =>
      new KeepingStorage(new FolderStorage(join(folder, 'e1')), kept).keepTransactions(entry, {
        firstVersion,
        lastVersion,
      })
    await keep(0n, 5n)
    const path = join(kept, 'metadata', readdirSync(join(kept, 'metadata'))[0]!)
    const { open } = fs
    vi.spyOn(fs, 'open').mockImplementation(async (...args) => {
      if (args[0] === path) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
      return await open(...args)
    })
    syncBuiltinESMExports()
    try {
      await expect(keep(6n, 11n)).rejects.toMatchObject({ code: 'spill_failed' })
    } finally {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    }
    await keep(6n, 11n)
    expect(readFileSync(path, 'utf8')).toContain('"first_version":0,"last_version":11,')
  })

  it('survives an interrupted transfer, and a damaged part of a killed run', async () => {
    server.faultOf = ({ key, before }) => (key.includes('-.chunk') && before === 0 ? busy(503, '0') : undefined)
    await read('s3://bucket/e1', BASE, { keepFolder: kept }, BASE + 2)
    // If reading ends in the middle of a transfer, the folder lacks that chunk.
    const names = readdirSync(kept, { recursive: true, encoding: 'utf8' })
    const chunk = join(kept, names.find((one) => /^transaction_.*\.chunk/.test(one))!)
    rmSync(chunk)
    const drafts = join(kept, 'ledger-state-drafts-killed')
    mkdirSync(drafts)
    writeFileSync(join(drafts, 'lock'), '')
    const whole = await read('s3://bucket/e1', BASE, { keepFolder: kept })
    expect(await read(kept, BASE)).toEqual(whole)
    expect(existsSync(drafts)).toBe(false)
  })
})
