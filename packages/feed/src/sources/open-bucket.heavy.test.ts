// Backups in a bucket, read as sources. Whatever fails on the way, they give the same as in a folder.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ByteReader } from '@ledger-state/core'
import { computeWaypoint, LedgerHasher, readLedgerInfo } from '@ledger-state/proof'
import { createRandom } from '@ledger-state/testing/random'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type BucketServer,
  type BucketServerOptions,
  busy,
  cutAfter,
  endAfter,
  htmlPage,
  startBucketServer,
} from '../../testing/bucket-server.ts'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { madeEndings, signedLedgerInfo, writeEndings } from '../../testing/synthetic-epochs.ts'
import { FETCH_LIMITS } from '../files/fetch-ahead.js'
import { openSource } from './open-source.js'
import type { Reading, SourceOptions } from './source.js'

const chain = new SyntheticChain({ blocks: 40, signers: true })
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 100 && info[9] === 0 && info[106] === 1)
const endings = madeEndings(Number(chain.epoch) + 1).map(signedLedgerInfo)
const waypoint = computeWaypoint(new LedgerHasher(), readLedgerInfo(new ByteReader(endings[0]!)))

let folder: string
let temporary: string
let snapshot: string
let server: BucketServer
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-bucket-'))
  const root = join(folder, 'e1')
  mkdirSync(root)
  snapshot = writeBackup(chain, root, { chunk: 12, folder: 3, snapshot: { version: SNAPSHOT, chunk: 20 } })
  writeEndings(root, endings)
  // Packs objects without a suffix, as the tools of networks do.
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.gz'))) {
    writeFileSync(join(root, name.slice(0, -3)), readFileSync(join(root, name)))
    rmSync(join(root, name))
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'copies-'))
  vi.stubEnv('TMPDIR', temporary)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
  rmSync(temporary, { recursive: true })
})

async function serve(options: BucketServerOptions = {}): Promise<void> {
  server = await startBucketServer(folder, options)
  vi.stubEnv('AWS_ENDPOINT_URL', server.origin)
  vi.stubEnv('STORAGE_EMULATOR_HOST', server.origin)
}

/** Reads a source to its end. Returns its content, and the largest number of copies that existed at once. */
async function readAll(location: string, options: SourceOptions = {}, from: Reading = {}) {
  const source = await openSource(location, { thread: false, waypoints: [waypoint], ...options })
  const versions: unknown[] = []
  const entries: unknown[] = []
  let copies = 0
  try {
    for await (const part of source.base?.parts(undefined) ?? []) entries.push(...part.entries)
    for await (const version of source.versions(from)) {
      const { readTransaction, readWhole: _, ...rest } = version
      versions.push({ ...rest, transaction: readTransaction?.() })
      copies = Math.max(copies, filesIn(temporary))
    }
    const endings = source.takeEndings?.().length
    return {
      description: source.description,
      versions,
      entries,
      trustedState: source.trustedState,
      mark: source.mark,
      endings,
      copies,
    }
  } finally {
    await source.close()
  }
}

function filesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
}

async function expectAsInFolder(location: string, path: string): Promise<void> {
  const { copies, ...found } = await readAll(location)
  const { copies: _, ...expected } = await readAll(path)
  expect(found).toEqual(expected)
  expect(found.versions.length + found.entries.length).toBeGreaterThan(30)
  // Two chunks are proven and read while others are fetched, each with its proof, and epoch changes.
  expect(copies).toBeLessThanOrEqual(2 * (2 + FETCH_LIMITS.items) + endings.length)
  expect(filesIn(temporary)).toBe(0)
}

const root = () => join(folder, 'e1')
const stateFolder = () => snapshot.split('/').at(-1)!

describe('a backup in a bucket', () => {
  it.each(['s3://bucket/e1', 's3://bucket/e1/', 'gs://bucket/e1'])(
    'at %s is the same as in a folder',
    async (location) => {
      await serve({ flavour: location.startsWith('gs') ? 'gs' : 's3', pageSize: 2 })
      await expectAsInFolder(location, root())
    },
  )

  it('is found by a URL of a bucket, of a folder in it, and of a server that is one', async () => {
    await serve()
    await expectAsInFolder(`${server.url}/e1/`, root())
    await expectAsInFolder(`${server.url}/e1/${stateFolder()}`, join(root(), stateFolder()))
    await server.close()
    folder = join(folder, 'e1')
    await serve()
    folder = join(folder, '..')
    await expectAsInFolder(server.url, root())
  })

  it.each([
    ['state', () => stateFolder()],
    ['transactions', () => 'transaction_36-.ab12'],
  ])('has folders that are sources by themselves: %s', async (_, name) => {
    await serve()
    await expectAsInFolder(`s3://bucket/e1/${name()}`, join(root(), name()))
  })

  it('is whole after faults on the way', async () => {
    await serve({ pageSize: 5 })
    const random = createRandom(11)
    // The eighth failure in a row would be an error; each row here ends long before.
    server.faultOf = ({ before }) => {
      if (before > 2 || random.below(8) > 0) return undefined
      return [busy(503, '0'), busy(429), cutAfter(random.below(300)), endAfter(random.below(30))][random.below(4)]
    }
    const { versions, trustedState } = await readAll('s3://bucket/e1')
    expect(versions.length).toBe(chain.records.length)
    expect(trustedState?.waypoint).toBe(waypoint)
  })

  it('yields no chunk before the wanted versions, nor asks for it', async () => {
    await serve()
    const { versions } = await readAll('s3://bucket/e1', {}, { version: 60n, read: () => undefined })
    expect(versions.length).toBe(chain.records.length - 60)
    const chunks = server.requests.map(({ key }) => /transaction_.*\/(\d+)-\.chunk$/.exec(key)?.[1]).filter(Boolean)
    expect(Math.min(...chunks.map(Number))).toBe(60)
  })

  it('names the object that is damaged', async () => {
    await serve()
    server.faultOf = ({ key }) =>
      key.endsWith('/24-.chunk')
        ? (answer) => {
            const whole = gunzipSync(answer.body)
            whole[40]! ^= 1
            answer.body = whole
            answer.headers.etag = '"other"'
          }
        : undefined
    // The answer has another length than the listing says.
    await expect(readAll('s3://bucket/e1')).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('s3://bucket/e1/transaction_0-.ab12/24-.chunk has changed'),
    })
    server.faultOf = ({ key }) =>
      key.endsWith('/24-.chunk')
        ? (answer) => {
            answer.body[40]! ^= 1
          }
        : undefined
    await expect(readAll('s3://bucket/e1')).rejects.toThrow(/transaction_0-\.ab12\/24-\.chunk/)
    expect(filesIn(temporary)).toBe(0)
  })

  it('that is stopped while it waits ends', async () => {
    await serve()
    const stop = new AbortController()
    server.faultOf = ({ key }) => (key.endsWith('/36-.chunk') ? busy(503, '100') : undefined)
    const reading = readAll('s3://bucket/e1', { signal: stop.signal, onNotice: () => stop.abort() })
    await expect(reading).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/was stopped$/),
    })
    expect(filesIn(temporary)).toBe(0)
  })
})

describe('a chunk of a bucket', () => {
  it('that the manifest names and the bucket lacks is named after all that precedes it', async () => {
    await serve()
    const name = readdirSync(root()).find((one) => one.startsWith('transaction_36-'))!
    const lost = join(root(), name, '36-.chunk')
    renameSync(lost, join(folder, 'lost'))
    try {
      await expect(readAll('s3://bucket/e1')).rejects.toMatchObject({
        code: 'invalid_backup',
        message: expect.stringMatching(/is missing s3:\/\/bucket\/e1\/transaction_36-.*\/36-\.chunk/),
      })
    } finally {
      renameSync(join(folder, 'lost'), lost)
    }
  })

  it('that is listed and gone is named', async () => {
    await serve()
    server.faultOf = ({ key }) => (key.endsWith('/36-.chunk') ? busy(404) : undefined)
    await expect(readAll('s3://bucket/e1')).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/36-\.chunk, which a listing or a manifest names/),
    })
  })
})

describe('objects of a bucket that are no backup', () => {
  it.each([
    ['s3://bucket/e2', 'invalid_argument', /^s3:\/\/bucket\/e2 is not a backup: it has no metadata/],
    ['s3://buckets/e1', 'invalid_argument', /^there is no bucket at http:.*\/buckets;/],
    ['s3://bucket:e1', 'invalid_argument', /does not name a backup in a bucket/],
  ])('%s is refused', async (location, code, message) => {
    await serve()
    await expect(readAll(location)).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it('is refused by its URL', async () => {
    await serve()
    await expect(readAll(`${server.url}/e2`)).rejects.toThrow(/\/bucket\/e2 is not a backup/)
    await expect(readAll(`${server.origin}/absent/e1`)).rejects.toThrow(/there is no bucket at/)
    server.lists = false
    await expect(readAll(`${server.url}/e1`)).rejects.toThrow(/bucket cannot be listed without credentials/)
    server.faultOf = () => htmlPage
    await expect(readAll('s3://bucket/e1')).rejects.toThrow(/found a page in HTML/)
  })

  it('is a single folder of a backup at the root of a bucket', async () => {
    folder = join(folder, 'e1', stateFolder())
    await serve()
    folder = join(folder, '../..')
    await expect(readAll('s3://bucket')).rejects.toThrow(
      /s3:\/\/bucket is one folder of a backup; its manifest names files/,
    )
  })
})
