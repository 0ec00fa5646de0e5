import { Buffer } from 'node:buffer'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSharedFiles, openSharedTarget } from '@ledger-state/feed'
import {
  type BucketServer,
  busy,
  type Fault,
  redirect,
  startBucketServer,
} from '@ledger-state/feed/testing/bucket-server'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fetchSegments } from './fetch-segments.js'
import { pushSegments } from './push-segments.js'
import { MANIFEST_NAME } from './segments-manifest.js'
import { verifySegments } from './verify-segments.js'

let folder: string
let bucket: BucketServer
const at = (name: string) => join(folder, name)
const PLACE = 's3://bucket/nets/mainnet'

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'push-'))
  mkdirSync(at('cloud'))
  bucket = await startBucketServer(at('cloud'))
  vi.stubEnv('AWS_ENDPOINT_URL_S3', bucket.origin)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  await commit(0, 200)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await bucket.close()
  rmSync(folder, { recursive: true, force: true })
})

async function commit(first: number, count: number): Promise<void> {
  const engine = openStateEngine({ path: at('store'), durability: 'none', memtableBytes: 20_000 })
  for (let version = BigInt(first); version < first + count; version++) {
    const block = { height: version, epoch: 0n, timestampUsec: version }
    const writes = [
      [Buffer.from(`key ${version % 90n}`), Buffer.alloc(Number(version) % 700, Number(version))],
    ] as const
    await engine.commit([{ version, block, writes: [...writes] }], { chainId: 4 })
    if (version === 100n) await engine.merge()
  }
  await engine.close()
}

async function push(location = PLACE, onProgress?: (bytes: number, total: number) => void, store = at('store')) {
  const target = openSharedTarget(location, { firstPauseMs: 2 })
  try {
    return await pushSegments(store, target, { onProgress })
  } finally {
    target.close()
  }
}

async function fetchedAnswers(): Promise<unknown> {
  const files = openSharedFiles(PLACE, { firstPauseMs: 2 })
  await fetchSegments(files, at('fetched'))
  files.close()
  return answersOf(at('fetched'))
}

async function answersOf(path: string): Promise<unknown> {
  const engine = openStateEngineReader({ path, verifyReads: true })
  const { ledger } = engine
  const entries = [...engine.at(150n).scan(new Uint8Array(0))].map(({ key, value }) => [
    Buffer.from(key),
    Buffer.from(value),
  ])
  await engine.close()
  return { ledger, entries }
}

const inCloud = () => readdirSync(at('cloud/nets/mainnet'))
const puts = () => bucket.requests.filter(({ method }) => method === 'PUT')

it('a store that a link leads to is linked next to the store, which may be on another disk than the link', async () => {
  mkdirSync(at('other'))
  symlinkSync(at('store'), at('other/link'))
  const seen = new Set<string>()
  await push(
    PLACE,
    () => {
      for (const name of [...readdirSync(at('other')), ...readdirSync(folder)]) seen.add(name)
    },
    `${at('other/link')}/`,
  )
  expect([...seen].filter((name) => name.includes('push'))).toEqual(['store.push.unfinished'])
  expect(readdirSync(at('other/link')).filter((name) => name.includes('push'))).toEqual([])
})

it('a store is pushed into a bucket, files first; another push adds the new files, and the store is fetched from there', async () => {
  const progress: number[] = []
  const { newFiles, manifest } = await push(PLACE, (bytes, total) => progress.push(bytes / total))
  expect(newFiles).toBe(manifest.files.length)
  expect(newFiles).toBeGreaterThan(1)
  expect(progress).toEqual(progress.toSorted((a, b) => a - b))
  expect(progress.at(-1)).toBe(1)
  expect(puts().map(({ key }) => key.split('/').at(-1))).toEqual([
    ...manifest.files.map(({ sha256 }) => `segment-${sha256}`),
    MANIFEST_NAME,
  ])
  for (const { headers } of puts()) {
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 .*SignedHeaders=[^,]*x-amz-content-sha256/)
    expect(headers['x-amz-content-sha256']).toMatch(/^[0-9a-f]{64}$/)
  }
  await verifySegments(openSharedFiles(PLACE))
  expect(await fetchedAnswers()).toEqual(await answersOf(at('store')))
  await commit(200, 20)
  const again = await push()
  expect(again.newFiles).toBeLessThan(again.manifest.files.length)
  const same = await push()
  expect(same.newFiles).toBe(0)
  rmSync(at('fetched'), { recursive: true })
  expect(await fetchedAnswers()).toEqual(await answersOf(at('store')))
  expect(existsSync(at('store.push.unfinished'))).toBe(false)
})

it('a bucket that is busy, or breaks off, is asked again; the body is sent from its beginning', async () => {
  const cut: Fault = (_, response) => {
    response.destroy()
    return true
  }
  bucket.faultOf = ({ before }) => [busy(503), cut, busy(500)][before]
  await push()
  bucket.faultOf = () => undefined
  await verifySegments(openSharedFiles(PLACE))
  expect(await fetchedAnswers()).toEqual(await answersOf(at('store')))
})

it('a push that fails in the middle leaves the manifest before; the next one completes it', async () => {
  await push()
  const before = readFileSync(join(at('cloud/nets/mainnet'), MANIFEST_NAME), 'utf8')
  await commit(200, 60)
  bucket.faultOf = ({ method, key }) =>
    method === 'PUT' && key.endsWith(MANIFEST_NAME)
      ? (answer) => {
          Object.assign(answer, {
            status: 403,
            headers: {},
            body: Buffer.from('<Error><Code>AccessDenied</Code></Error>'),
          })
        }
      : undefined
  await expect(push()).rejects.toMatchObject({
    code: 'source_failed',
    message: expect.stringMatching(
      /mainnet\/segments\.json was not written: status 403, AccessDenied; the credentials/,
    ),
  })
  expect(readFileSync(join(at('cloud/nets/mainnet'), MANIFEST_NAME), 'utf8')).toBe(before)
  await verifySegments(openSharedFiles(PLACE))
  expect(existsSync(at('store.push.unfinished'))).toBe(false)
  bucket.faultOf = () => undefined
  await push()
  expect(await fetchedAnswers()).toEqual(await answersOf(at('store')))
})

it('an object of another length, left by another tool, is replaced', async () => {
  const { manifest } = await push()
  const name = `segment-${manifest.files[0]!.sha256}`
  const honest = readFileSync(join(at('cloud/nets/mainnet'), name))
  writeFileSync(join(at('cloud/nets/mainnet'), name), honest.subarray(5))
  expect(await push()).toMatchObject({ newFiles: 1, newBytes: honest.length })
  expect(readFileSync(join(at('cloud/nets/mainnet'), name))).toEqual(honest)
})

it('a redirect to another server is not followed: it would get the files', async () => {
  const other = await startBucketServer(at('cloud'))
  bucket.faultOf = ({ method }) =>
    method === 'PUT' ? redirect(307, { location: `${other.origin}/bucket/x` }) : undefined
  await expect(push()).rejects.toMatchObject({
    code: 'source_failed',
    message: expect.stringMatching(/^PUT .* not followed, as only the configured server is asked/),
  })
  expect(other.requests).toEqual([])
  await other.close()
  expect(existsSync(join(at('cloud'), 'nets'))).toBe(false)
})

it('Google’s store takes a token that may write', async () => {
  vi.stubEnv('STORAGE_EMULATOR_HOST', bucket.origin)
  vi.stubEnv('CLOUDSDK_AUTH_ACCESS_TOKEN', 'token')
  await push('gs://bucket/nets/mainnet')
  expect(puts().every(({ headers }) => headers.authorization === 'Bearer token')).toBe(true)
  expect(inCloud()).toContain(MANIFEST_NAME)
})
