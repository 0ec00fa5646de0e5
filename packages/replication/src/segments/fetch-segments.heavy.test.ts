import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VersionWrites } from '@ledger-state/core'
import { openSharedFiles } from '@ledger-state/feed'
import { startBucketServer } from '@ledger-state/feed/testing/bucket-server'
import { openStateEngine, openStateEngineReader, type StateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fetchSegments } from './fetch-segments.js'
import { pushSegments } from './push-segments.js'
import { encodeManifest, MANIFEST_NAME, parseManifest, type SegmentsManifest } from './segments-manifest.js'
import { verifySegments } from './verify-segments.js'

let folder: string
let source: StateEngine
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'segments-'))
  source = openStateEngine({ path: at('source'), durability: 'none', memtableBytes: 20_000 })
  for (let first = 0; first < 300; first += 50) {
    await source.commit(versions(first, 50), { chainId: 4, mark: Uint8Array.of(7, 8) })
    if (first < 200) await source.merge()
  }
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await source.close()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string) => join(folder, name)
const shared = () => at('shared')
const out = () => at('out')

function versions(first: number, count: number): VersionWrites[] {
  return Array.from({ length: count }, (_, index): VersionWrites => {
    const version = BigInt(first + index)
    const block = { height: version, epoch: 0n, timestampUsec: version }
    return { version, block, writes: [[Buffer.from(`key ${index % 90}`), Buffer.alloc(index % 700, index)]] }
  })
}

async function fetchFrom(
  location: string,
  options: Parameters<typeof fetchSegments>[2] = {},
): Promise<SegmentsManifest> {
  const files = openSharedFiles(location, { firstPauseMs: 2 })
  try {
    return await fetchSegments(files, out(), options)
  } finally {
    files.close()
  }
}

async function expectSame(path = out()): Promise<void> {
  const engine = openStateEngineReader({ path, verifyReads: true })
  const contentOf = ({ at: view, ledger, mark }: Pick<StateEngine, 'at' | 'ledger' | 'mark'>) => ({
    ledger,
    mark: mark && Buffer.from(mark),
    entries: [ledger!.oldestVersion, 150n, ledger!.latestVersion].map((version) =>
      [...view(version).scan(new Uint8Array(0))].map(({ key, value }) => [Buffer.from(key), Buffer.from(value)]),
    ),
  })
  try {
    expect(contentOf({ at: engine.at.bind(engine), ledger: engine.ledger, mark: engine.mark })).toEqual(
      contentOf({ at: source.at.bind(source), ledger: source.ledger, mark: source.mark }),
    )
    expect((await engine.check()).problems).toEqual([])
  } finally {
    await engine.close()
  }
  expect(readdirSync(path).filter((name) => /[0-9a-f]{64}|part/.test(name))).toEqual([])
}

type Answer = (request: IncomingMessage, response: ServerResponse, file: Buffer) => boolean

/** Serves the folder as a plain web server with ranges does, with faults. */
async function serve(fault: Answer = () => false): Promise<{ url: string; server: Server; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = join(shared(), decodeURIComponent(new URL(request.url!, 'http://x').pathname))
    asked.push(`${request.url} ${request.headers.range ?? ''}`)
    if (!existsSync(path)) return response.writeHead(404).end('no such file')
    const file = readFileSync(path)
    if (fault(request, response, file)) return response
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? -1)
    if (from < 0) return response.writeHead(200, { 'content-length': file.length }).end(file)
    const range = `bytes ${from}-${file.length - 1}/${file.length}`
    return response
      .writeHead(206, { 'content-range': range, 'content-length': file.length - from })
      .end(file.subarray(from))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, asked }
}

const isSegment = ({ url }: IncomingMessage) => url!.includes('segment-')

it('a store is pushed into a folder, and fetched from it, from a web server and from a bucket', async () => {
  const { newFiles } = await pushSegments(at('source'), shared())
  expect(newFiles).toBeGreaterThan(1)
  await verifySegments(openSharedFiles(shared()))
  expect(await fetchFrom(shared())).toMatchObject({ facts: { ledger: source.ledger } })
  await expectSame()
  await expect(fetchFrom(shared())).rejects.toMatchObject({ code: 'store_not_empty' })
  rmSync(out(), { recursive: true })
  const { url, server } = await serve()
  await fetchFrom(url)
  await expectSame()
  server.close()
  rmSync(out(), { recursive: true })
  const bucket = await startBucketServer(folder)
  vi.stubEnv('AWS_ENDPOINT_URL_S3', bucket.origin)
  await fetchFrom('s3://bucket/shared')
  await expectSame()
  await bucket.close()
  // The fetched store goes on, and another push adds the new files.
  const writer = openStateEngine({ path: out() })
  await writer.commit(versions(300, 5), { chainId: 4 })
  await writer.close()
  await source.commit(versions(300, 5), { chainId: 4 })
  const again = await pushSegments(at('source'), shared())
  expect(again.newFiles).toBeLessThan(again.manifest.files.length)
  expect(readdirSync(shared()).filter((name) => !/^segment-[0-9a-f]{64}$|^segments\.json$/.test(name))).toEqual([])
  rmSync(out(), { recursive: true })
  await fetchFrom(shared())
  await expectSame()
})

it('a transfer that is cut again and again, at any byte, is continued there', async () => {
  await pushSegments(at('source'), shared())
  let cuts = 12
  const { url, server, asked } = await serve((request, response, file) => {
    if (!isSegment(request) || cuts-- <= 0) return false
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const to = Math.min(file.length - 1, from + 3_000)
    const length = file.length - from
    response.writeHead(206, {
      'content-range': `bytes ${from}-${file.length - 1}/${file.length}`,
      'content-length': length,
    })
    response.write(file.subarray(from, to))
    setImmediate(() => response.destroy())
    return true
  })
  await fetchFrom(url)
  await expectSame()
  expect(asked.filter((one) => /bytes=[1-9]/.test(one)).length).toBeGreaterThan(5)
  server.close()
})

it('a fetch that was stopped is resumed at the same byte, even with another manifest', async () => {
  await pushSegments(at('source'), shared())
  let bytes = 0
  const stop = new AbortController()
  const onProgress = (done: number, total: number) => {
    bytes = done
    if (done > total / 2) stop.abort()
  }
  await expect(fetchFrom(shared(), { onProgress, signal: stop.signal })).rejects.toThrow()
  expect(existsSync(out())).toBe(false)
  await source.commit(versions(300, 5), { chainId: 4, mark: Uint8Array.of(9) })
  await pushSegments(at('source'), shared())
  let missing = 0
  await fetchFrom(shared(), {
    onBegin: async (total, left) => {
      missing = left
      expect(total - left).toBeGreaterThan(bytes / 3)
    },
  })
  expect(missing).toBeGreaterThan(0)
  await expectSame()
})

it('a fetch that is stopped while it checks the store ends soon, and keeps all that it received', async () => {
  // The check says how far it is after each 5,000 writes.
  for (let first = 300; first < 12_300; first += 4_000) await source.commit(versions(first, 4_000), { chainId: 4 })
  await pushSegments(at('source'), shared())
  const writes = source.segments().files.reduce((sum, file) => sum + file.writes, 0)
  for (let asked = 0; asked < 2; asked++) {
    const stop = new AbortController()
    let checked = 0
    const onCheck = (count: number) => {
      checked = count
      stop.abort()
    }
    await expect(fetchFrom(shared(), { onCheck, signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect(checked).toBeLessThan(writes)
    expect(existsSync(out())).toBe(false)
  }
  await fetchFrom(shared(), { onBegin: async (_, missing) => expect(missing).toBe(0) })
  await expectSame()
})

it('a store that cannot get its name keeps all that was received', async () => {
  await pushSegments(at('source'), shared())
  const onProgress = () => mkdirSync(join(out(), 'of somebody else'), { recursive: true })
  await expect(fetchFrom(shared(), { onProgress })).rejects.toThrow(/is not empty/)
  rmSync(out(), { recursive: true })
  await fetchFrom(shared(), { onBegin: async (_, missing) => expect(missing).toBe(0) })
  await expectSame()
})

const firstFile = () => join(shared(), readdirSync(shared()).find((name) => name.startsWith('segment-'))!)

it.each<[string, string, Answer]>([
  [
    'other bytes',
    'store_corrupt',
    (request, response, file) => {
      if (!isSegment(request)) return false
      const changed = Buffer.from(file)
      changed[12_400]! ^= 1
      response.writeHead(200, { 'content-length': changed.length }).end(changed)
      return true
    },
  ],
  [
    'another length',
    'source_failed',
    (request, response, file) => {
      if (!isSegment(request)) return false
      response.writeHead(200, { 'content-length': file.length + 9 }).end(Buffer.concat([file, Buffer.alloc(9)]))
      return true
    },
  ],
  [
    'a shorter file',
    'source_failed',
    (request, response, file) => {
      if (!isSegment(request)) return false
      response.writeHead(200, { 'content-length': file.length - 9 }).end(file.subarray(9))
      return true
    },
  ],
  [
    'more bytes than it says',
    'store_corrupt',
    (request, response, file) => {
      if (!isSegment(request)) return false
      response.writeHead(200).end(Buffer.concat([file, Buffer.alloc(9)]))
      return true
    },
  ],
  [
    'a redirect',
    'source_failed',
    (request, response) => {
      if (!isSegment(request)) return false
      response.writeHead(307, { location: 'http://127.0.0.1:1/SECRET' }).end()
      return true
    },
  ],
  [
    'no manifest',
    'source_failed',
    (request, response) => {
      if (isSegment(request)) return false
      response.writeHead(200).end('<html>maintenance</html>')
      return true
    },
  ],
])('a server that sends %s is refused by name, and leaves no store', async (_, code, fault) => {
  await pushSegments(at('source'), shared())
  const faulty = await serve(fault)
  const error = await fetchFrom(faulty.url).catch((thrown: unknown) => thrown)
  faulty.server.close()
  expect(error).toMatchObject({ message: expect.stringMatching(/127\.0\.0\.1:\d+\/segment/) })
  expect([code, 'source_failed']).toContain((error as { code: string }).code)
  expect(existsSync(out())).toBe(false)
  // From an honest place the same call completes.
  await fetchFrom(shared())
  await expectSame()
})

it('a forged file, or manifest, is refused by name: by its hash, or by its content', async () => {
  await pushSegments(at('source'), shared())
  const honest = readFileSync(join(shared(), MANIFEST_NAME), 'utf8')
  const path = firstFile()
  const bytes = readFileSync(path)
  const manifest = parseManifest(honest) as SegmentsManifest
  const change = (file: Buffer): string => {
    const sha256 = createHash('sha256').update(file).digest('hex')
    writeFileSync(join(shared(), `segment-${sha256}`), file)
    return honest.replaceAll(/[0-9a-f]{64}/g, (hash) => (path.endsWith(hash) ? sha256 : hash))
  }
  const forgeries: [string, () => string, RegExp][] = [
    [
      'a bit of a block, with its hash',
      () => {
        const forged = Buffer.from(bytes)
        forged[12_500]! ^= 4
        return change(forged)
      },
      /does not match its checksum|SHA-256|no sound store/,
    ],
    [
      'a latest version',
      () => honest.replace(/"latest": \{"version":"\d+"/, '"latest": {"version":"298"'),
      /no segment file|versions|latest|above/,
    ],
    [
      'a count of writes',
      () =>
        encodeManifest({ ...manifest, files: manifest.files.map((file) => ({ ...file, writes: file.writes + 1 })) }),
      /other writes than the manifest says/,
    ],
    [
      'a key',
      () => encodeManifest({ ...manifest, files: manifest.files.map((file) => ({ ...file, firstKey: '00' })) }),
      /other keys than the manifest says/,
    ],
    [
      'another store',
      () => encodeManifest({ ...manifest, facts: { ...manifest.facts, segmentsId: 5n } }),
      /belongs to another store/,
    ],
    [
      'an oldest block',
      () =>
        encodeManifest({
          ...manifest,
          facts: {
            ...manifest.facts,
            ledger: { ...manifest.facts.ledger, oldestBlock: { height: 9n, epoch: 9n, timestampUsec: 9n } },
          },
        }),
      /oldest block is not/,
    ],
  ]
  for (const [, forge, message] of forgeries) {
    writeFileSync(join(shared(), MANIFEST_NAME), forge())
    await expect(fetchFrom(shared())).rejects.toThrow(message)
    expect(existsSync(out())).toBe(false)
  }
  writeFileSync(join(shared(), MANIFEST_NAME), honest)
  // It is a link: a file that is written in place would change the store that was pushed.
  rmSync(path)
  writeFileSync(path, bytes.subarray(0, -1))
  await expect(verifySegments(openSharedFiles(shared()))).rejects.toMatchObject({
    code: 'store_corrupt',
    message: expect.stringMatching(/segment-[0-9a-f]{64} has \d+ bytes, the manifest says/),
  })
  rmSync(path)
  await expect(verifySegments(openSharedFiles(shared()))).rejects.toThrow(/is missing, but the manifest names it/)
  writeFileSync(path, bytes)
  await fetchFrom(shared())
  await expectSame()
})

it('a file instead of a folder, and a folder instead of a file, are named as such', async () => {
  await pushSegments(at('source'), shared())
  const file = firstFile()
  await expect(verifySegments(openSharedFiles(file))).rejects.toMatchObject({
    code: 'source_failed',
    message: `${file} is not a folder: name the folder into which ledger-state segments push wrote`,
  })
  for (const path of [file, join(shared(), MANIFEST_NAME)]) {
    rmSync(path)
    mkdirSync(path)
    await expect(verifySegments(openSharedFiles(shared()))).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(new RegExp(`^${path} cannot be read: EISDIR`)),
    })
  }
})

it('two fetches to one place at once: one makes the store, the other is refused', async () => {
  await pushSegments(at('source'), shared())
  const both = await Promise.allSettled([fetchFrom(shared()), fetchFrom(shared())])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'store_locked' } })
  await expectSame()
})

it('the files of a killed push are completed by the next one; until then the manifest before is whole', async () => {
  await pushSegments(at('source'), shared())
  await source.commit(versions(300, 40), { chainId: 4 })
  // As after a kill: the copy is there, and a new file without a manifest.
  mkdirSync(join(shared(), 'push.unfinished', 'store'), { recursive: true })
  copyFileSync(firstFile(), join(shared(), 'push.unfinished', 'store', 'segment-3'))
  await verifySegments(openSharedFiles(shared()))
  await pushSegments(at('source'), shared())
  await fetchFrom(shared())
  await expectSame()
})
