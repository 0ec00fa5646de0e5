// Manifests and files of strangers: whatever they say, it is refused by name, and nothing is at the place of the store.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { VersionWrites } from '@ledger-state/core'
import { openSharedFiles } from '@ledger-state/feed'
import { openStateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fetchSegments } from './fetch-segments.js'
import { pushSegments } from './push-segments.js'
import {
  encodeManifest,
  MANIFEST_NAME,
  type ManifestFile,
  parseManifest,
  type SegmentsManifest,
} from './segments-manifest.js'

let folder: string
let server: Server | undefined
const at = (name: string) => join(folder, name)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forged-'))
})
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
  rmSync(folder, { recursive: true, force: true })
})

/** Fills a part of a ledger, whose files have the id of all parts, and pushes it. */
async function pushPart(name: string, first: number, count: number, length = 300): Promise<SegmentsManifest> {
  const engine = openStateEngine({ path: at(name), durability: 'none', part: true })
  for (let from = first; from < first + count; from += 10) {
    const versions = Array.from({ length: 10 }, (_, index): VersionWrites => {
      const version = BigInt(from + index)
      const block = { height: version, epoch: 0n, timestampUsec: version }
      return { version, block, writes: [[Buffer.from(`key ${index % 7}`), Buffer.alloc(length, from + index)]] }
    })
    await engine.commit(versions, { chainId: 4 })
    await engine.merge()
  }
  await engine.close()
  await pushSegments(at(name), at('shared'))
  return readManifest()
}

const readManifest = () => parseManifest(readFileSync(join(at('shared'), MANIFEST_NAME), 'utf8')) as SegmentsManifest

async function fetchFrom(location = at('shared')): Promise<unknown> {
  const files = openSharedFiles(location, { firstPauseMs: 2 })
  try {
    return await fetchSegments(files, at('out'))
  } finally {
    files.close()
  }
}

async function expectRefused(manifest: SegmentsManifest | string, message: RegExp): Promise<void> {
  writeFileSync(join(at('shared'), MANIFEST_NAME), typeof manifest === 'string' ? manifest : encodeManifest(manifest))
  // It is refused each time, even after some of the files came.
  for (let tries = 0; tries < 2; tries++) {
    await expect(fetchFrom()).rejects.toMatchObject({
      code: expect.stringMatching(/^(store_corrupt|source_failed)$/),
      message: expect.stringMatching(message),
    })
    expect(existsSync(at('out'))).toBe(false)
  }
}

it('files that leave a gap, overlap, or end before the ledger are no store', async () => {
  const whole = await pushPart('whole', 0, 40)
  const overlapping = await pushPart('overlapping', 25, 30)
  expect(whole.files.length).toBeGreaterThan(2)
  const { facts, files } = whole
  const without = (index: number) => ({ facts, files: files.filter((_, other) => other !== index) })
  await expectRefused(without(1), /version/)
  await expectRefused(without(0), /version/)
  await expectRefused(without(files.length - 1), /version/)
  const { ledger } = overlapping.facts
  const both = { ...facts, ledger: { ...facts.ledger, latestVersion: 54n, latestBlock: ledger.latestBlock } }
  await expectRefused({ facts: both, files: [...files, ...overlapping.files] }, /version|block/)
  // The same versions once more, in files of another store with the same id.
  const again = await pushPart('again', 0, 20, 301)
  await expectRefused({ facts, files: [...files, ...again.files.filter(isNot(files))] }, /version|block|twice/)
  writeFileSync(join(at('shared'), MANIFEST_NAME), encodeManifest(whole))
  await fetchFrom()
})

const isNot = (files: readonly ManifestFile[]) => (one: ManifestFile) =>
  files.every(({ sha256 }) => sha256 !== one.sha256)

it('sizes, versions and names that do not match the files are refused', async () => {
  const { facts, files } = await pushPart('whole', 0, 40)
  const first = (change: Partial<ManifestFile>) => ({ facts, files: [{ ...files[0]!, ...change }, ...files.slice(1)] })
  await expectRefused(first({ bytes: 2 ** 31 }), /bytes/)
  await expectRefused(first({ bytes: 0 }), /bytes/)
  await expectRefused(first({ keys: 2 ** 40 }), /keys/)
  await expectRefused(first({ lastVersion: 2n ** 63n }), /lastVersion/)
  await expectRefused(first({ firstKey: 'ff'.repeat(32) }), /keys/)
  const text = encodeManifest({ facts, files })
  await expectRefused(text.replace(/"bytes":\d+/, '"bytes":1e300'), /count that is not/)
  await expectRefused(
    text.replace(/"name":"segment-/, '"name":"../../segment-'),
    /name of file 0 does not match its hash/,
  )
  await expectRefused(text.replace(/"sha256":"[0-9a-f]{60}/, '"sha256":"../../../etc/passwd'), /SHA-256/)
  await expectRefused(text.replace('"files": [', `"files": [${'{},'.repeat(100_001)}`), /files|not an object/)
  await expectRefused(' '.repeat(2 ** 26 + 1), /more than \d+ bytes/)
  expect(readdirSync(folder).toSorted()).toEqual(['out.unfinished', 'shared', 'whole'])
})

type Answer = (request: IncomingMessage, response: ServerResponse, file: Buffer) => void

async function serve(answer: Answer): Promise<string> {
  server = createServer((request, response) => {
    const path = join(at('shared'), request.url!.split('/').at(-1)!)
    if (!existsSync(path)) return response.writeHead(404).end()
    const file = readFileSync(path)
    if (!path.includes('segment-')) return response.writeHead(200).end(file)
    return answer(request, response, file)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
}

it.each<[string, Answer]>([
  [
    'another range than was asked for',
    (_, response, file) => {
      const headers = {
        'content-range': `bytes 5-${file.length - 1}/${file.length}`,
        'content-length': file.length - 5,
      }
      response.writeHead(206, headers).end(file.subarray(5))
    },
  ],
  [
    'a range of a longer file',
    (_, response, file) => {
      const headers = { 'content-range': `bytes 0-${file.length - 1}/${2 ** 40}`, 'content-length': file.length }
      response.writeHead(206, headers).end(file)
    },
  ],
  [
    'a bomb that fetch unpacks',
    (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000)))
    },
  ],
  [
    'zeros of the right length',
    (_, response, file) => {
      response.writeHead(200, { 'content-length': file.length }).end(Buffer.alloc(file.length))
    },
  ],
  [
    'a redirect to the right file elsewhere',
    (request, response) => {
      response.writeHead(302, { location: `http://localhost:1/${request.url}` }).end()
    },
  ],
])('a server that sends %s is refused', async (_, answer) => {
  await pushPart('whole', 0, 20)
  const url = await serve(answer)
  await expect(fetchFrom(url)).rejects.toMatchObject({
    code: expect.stringMatching(/^(store_corrupt|source_failed)$/),
  })
  expect(existsSync(at('out'))).toBe(false)
  const left = readdirSync(at('out.unfinished')).filter((name) => name.startsWith('segment-'))
  for (const name of left) expect(readFileSync(join(at('out.unfinished'), name)).length).toBeLessThan(1_000_000)
  await fetchFrom()
})

it('a file with another content and its right hash does not become a part of the store', async () => {
  const { facts, files } = await pushPart('whole', 0, 20)
  const path = join(at('shared'), `segment-${files[0]!.sha256}`)
  const forged = readFileSync(path)
  // The last byte of the value of an entry, in a block.
  forged[12_700]! ^= 1
  const sha256 = createHash('sha256').update(forged).digest('hex')
  writeFileSync(join(at('shared'), `segment-${sha256}`), forged)
  await expectRefused({ facts, files: [{ ...files[0]!, sha256 }, ...files.slice(1)] }, /checksum|SHA-256|sound/)
})
