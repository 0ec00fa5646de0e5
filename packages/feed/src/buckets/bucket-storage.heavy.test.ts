import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { LedgerStateError } from '@ledger-state/core'
import { createRandom } from '@ledger-state/testing/random'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type BucketRequest,
  type BucketServer,
  type BucketServerOptions,
  busy,
  cutAfter,
  endAfter,
  type Fault,
  htmlPage,
  redirect,
  silence,
  silentAfter,
  startBucketServer,
  withBody,
  withLengthOff,
} from '../../testing/bucket-server.ts'
import { readBackupMetadata, readManifest, resolveBackupFile } from '../files/backup-directory.js'
import type { ByteRange, StoredObject } from '../files/backup-storage.js'
import { parseBucketUri } from './bucket-location.js'
import type { BucketRequestOptions } from './bucket-requests.js'
import { BucketStorage } from './bucket-storage.js'

const MANIFEST = JSON.stringify({ version: 7 })
const LARGE = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * at) >> 7))

let folder: string
let notices: string[]
let server: BucketServer | undefined
let storage: BucketStorage | undefined
/** The API of the bucket, unless a test chooses one. */
let flavour: 's3' | 'gs'

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bucket-storage-'))
  notices = []
  flavour = 's3'
  put('e1/state/plain', MANIFEST)
  put('e1/state/packed', gzipSync(MANIFEST))
  put('e1/state/suffixed.zst', zstdCompressSync(MANIFEST))
  put('e1/state/digits', '0123456789')
  put('e1/state/large', LARGE)
  put('e1/state/below/deep', 'x')
  put('e1/state/empty', '')
  put('e10/state/other', 'x')
})

afterEach(async () => {
  await storage?.close()
  await server?.close()
  rmSync(folder, { recursive: true })
})

function put(name: string, content: string | Buffer): void {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), content)
}

async function open(options: BucketServerOptions = {}, how: BucketRequestOptions = {}): Promise<BucketStorage> {
  server = await startBucketServer(folder, { flavour, ...options })
  return at(`${flavour}://bucket/e1`, how)
}

function at(location: string, how: BucketRequestOptions = {}): BucketStorage {
  const environment = { AWS_ENDPOINT_URL: server!.origin, STORAGE_EMULATOR_HOST: server!.origin }
  const onNotice = (text: string) => notices.push(text.replaceAll(server!.origin, ''))
  storage = new BucketStorage(parseBucketUri(location, environment), { firstPauseMs: 1, onNotice, ...how })
  return storage
}

async function list(from: BucketStorage, name: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = []
  for await (const object of from.list(name)) objects.push(object)
  return objects
}

async function read(name: string, range?: ByteRange): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of storage!.open(name, range)) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('latin1')
}

const readLarge = async () => expect((await read('state/large')) === LARGE.toString('latin1')).toBe(true)

/** Makes the next answers to an object fail, each in one of these ways. */
function faulty(...faults: (Fault | undefined)[]): void {
  server!.faultOf = ({ isListing, before }) => (isListing ? undefined : faults[before])
}

const asked = (name: string): BucketRequest[] => server!.requests.filter(({ key }) => key === `e1/${name}`)

describe.each(['s3', 'gs', 'first'] as const)('a bucket that lists as %s', (flavour) => {
  it.each([1, 2, 1_000])('gives the objects directly in a folder, in pages of %i', async (pageSize) => {
    await open({ flavour, pageSize })
    expect(await list(at(flavour === 'gs' ? 'gs://bucket/e1/' : 's3://bucket/e1'), 'state')).toEqual([
      { name: 'state/digits', bytes: 10 },
      { name: 'state/empty', bytes: 0 },
      { name: 'state/large', bytes: LARGE.length },
      { name: 'state/packed', bytes: gzipSync(MANIFEST).length },
      { name: 'state/plain', bytes: MANIFEST.length },
      { name: 'state/suffixed.zst', bytes: zstdCompressSync(MANIFEST).length },
    ])
  })
})

describe('a backup in a bucket', () => {
  it('lists nothing if there is no such folder, and takes a name that XML escapes', async () => {
    put('e1/a & <b>/"c"+%é', 'there')
    await open()
    expect(await list(storage!, 'absent')).toEqual([])
    expect(await list(storage!, '')).toEqual([])
    expect(await list(storage!, 'a & <b>')).toEqual([{ name: 'a & <b>/"c"+%é', bytes: 5 }])
    expect(await read('a & <b>/"c"+%é')).toBe('there')
  })

  it('may lie at the root of the bucket', async () => {
    await open()
    expect(await list(at('gs://bucket'), 'e10/state')).toEqual([{ name: 'e10/state/other', bytes: 1 }])
    expect(storage!.placeOf('e10')).toBe('gs://bucket/e10')
  })

  it('finds objects by their exact names, with one request for all of a folder', async () => {
    await open()
    expect(await storage!.find('state/digits')).toEqual({ name: 'state/digits', bytes: 10 })
    for (const name of ['state/suffixed', 'state', 'state/below', 'state/other']) {
      expect(await storage!.find(name)).toBeUndefined()
    }
    expect(server!.requests.map(({ key }) => key)).toEqual(['e1/state/', 'e1/'])
  })

  it('opens an object whole or a range of it', async () => {
    await open()
    for (const [range, text] of [
      [undefined, '0123456789'],
      [{ from: 4 }, '456789'],
      [{ from: 4, to: 6 }, '45'],
      [{ from: 4, to: 99 }, '456789'],
      [{ from: 10 }, ''],
    ] as const) {
      expect(await read('state/digits', range)).toBe(text)
    }
    expect(await read('state/empty')).toBe('')
    await readLarge()
  })

  it('is unpacked by its first bytes, and small objects are fetched once', async () => {
    await open()
    for (const name of ['plain', 'packed', 'suffixed', 'packed']) {
      expect((await readManifest(storage!, `state/${name}`)).version('version')).toBe(7n)
    }
    expect(asked('state/packed').length).toBe(1)
    const path = await resolveBackupFile(storage!, 'state/suffixed')
    expect(readFileSync(path)).toEqual(zstdCompressSync(MANIFEST))
    expect(path.endsWith('/state/suffixed.zst')).toBe(true)
  })

  it('is found by metadata in the order of its names', async () => {
    for (let version = 0; version < 40; version++) {
      const entry = { StateSnapshotBackup: { version, manifest: 'm' } }
      put(`e1/metadata/${String(version).padStart(2, '0')}.meta`, gzipSync(JSON.stringify(entry)))
    }
    await open({ pageSize: 7 })
    const versions = (await readBackupMetadata(storage!)).snapshots.map(({ version }) => Number(version))
    expect(versions).toEqual(Array.from({ length: 40 }, (_, version) => version))
  })

  it('is listed again if metadata were compacted after they were listed, and only then', async () => {
    const putState = (name: string, ...versions: number[]) => {
      const lines = versions.map((version) => JSON.stringify({ StateSnapshotBackup: { version, manifest: 'm' } }))
      put(`e1/metadata/${name}.meta`, Buffer.from(lines.join('\n')))
    }
    for (const version of [1, 2, 3]) putState(`state_${version}`, version)
    await open()
    const absent: Fault = (_, response) => response.writeHead(404).end() !== undefined
    const compact = () => {
      for (const version of [1, 2, 3]) rmSync(join(folder, `e1/metadata/state_${version}.meta`))
      putState('state_1-4', 1, 2, 3, 4)
      return absent
    }
    server!.faultOf = ({ key }) => (key.endsWith('state_1.meta') ? compact() : undefined)
    const versions = (await readBackupMetadata(storage!)).snapshots.map(({ version }) => Number(version))
    expect(versions).toEqual([1, 2, 3, 4])
    // An object that is listed and cannot be read is missing.
    server!.faultOf = ({ key }) => (key.endsWith('state_5.meta') ? absent : undefined)
    putState('state_5', 5)
    storage!.forgetListing('metadata')
    await expect(readBackupMetadata(storage!)).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/is missing .*state_5.meta/),
    })
  })

  it('copies an object once, and removes the copy when it is not needed any more', async () => {
    await open()
    const [path, again] = await Promise.all([storage!.localFile('state/large'), storage!.localFile('state/large')])
    expect([again, readFileSync(path).equals(LARGE), asked('state/large').length]).toEqual([path, true, 1])
    await storage!.release('/etc/hosts')
    await storage!.release(path)
    expect(existsSync(path)).toBe(false)
    const other = await storage!.localFile('state/digits')
    await storage!.close()
    expect(existsSync(join(other, '../..'))).toBe(false)
  })
})

describe('a transfer whose caller reads nothing for longer than a server may be silent', () => {
  it('is not cut meanwhile, and is where the server falls silent later', async () => {
    // More than a stream reads ahead of its caller.
    const [sentAtFirst, sentInAll] = [250_000, 280_000]
    await open({}, { silenceMs: 1_000 })
    const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>()
    server!.faultOf = ({ isListing, key, before, headers }) => {
      if (isListing) return undefined
      if (key === 'e1/state/digits') return before < 2 ? silence : undefined
      if (headers.range) return undefined
      return (answer, response) => {
        void isBack.then(() => response.write(answer.body.subarray(sentAtFirst, sentInAll)))
        return silentAfter(sentAtFirst)(answer, response)
      }
    }
    const pieces: Buffer[] = []
    for await (const piece of storage!.open('state/large')) {
      // Another transfer, which the silence cuts twice, shows that the time has passed.
      if (pieces.length === 0) expect(await read('state/digits')).toBe('0123456789')
      comeBack()
      pieces.push(piece as Buffer)
    }
    expect(Buffer.concat(pieces).equals(LARGE)).toBe(true)
    expect(notices.filter((text) => /digits: nothing came for 1 s/.test(text)).length).toBeGreaterThan(1)
    const [, start] = /^bytes=(\d+)-$/.exec(asked('state/large')[1]!.headers.range!)!
    expect(Number(start)).toBeGreaterThanOrEqual(sentAtFirst)
  })
})

describe.each(['s3', 'gs'] as const)('in a bucket of %s:', (kind) => {
  beforeEach(() => {
    flavour = kind
  })

  describe('a transfer', () => {
    it('continues by a range where it was cut, and asks for the same object', async () => {
      await open()
      faulty(cutAfter(100_000), cutAfter(0), cutAfter(150_000))
      await readLarge()
      const requests = asked('state/large').map(({ headers }) => [headers.range, headers['if-match']])
      expect(requests[0]).toEqual([undefined, undefined])
      for (const [range, etag] of requests.slice(1)) {
        expect([range, etag]).toEqual([
          expect.stringMatching(/^bytes=\d+-$/),
          expect.stringMatching(/^"[0-9a-f]{32}"$/),
        ])
      }
      expect(notices.length).toBe(3)
      expect(notices[0]).toMatch(/^GET \/bucket\/e1\/state\/large: .*; asking again in 0\.0 s$/)
    })

    it('is whole after any cuts', async () => {
      await open()
      const random = createRandom(7)
      for (let round = 0; round < 10; round++) {
        // More cuts than failures in a row are allowed; but each request makes progress.
        server!.faultOf = ({ isListing }) => {
          const bytes = random.below(60_000) + 1
          return isListing ? undefined : [cutAfter(bytes), endAfter(bytes)][random.below(2)]
        }
        await readLarge()
      }
    })

    it('skips the bytes that it had if the answer is the whole object instead of a range', async () => {
      await open()
      faulty(cutAfter(100_000), withBody(LARGE), withBody(LARGE))
      await readLarge()
      server!.faultOf = () => withBody(Buffer.from('0123456789'))
      expect(await read('state/digits', { from: 4, to: 6 })).toBe('45')
    })

    it('begins again if the answer is encoded, which cannot be continued in the middle', async () => {
      await open()
      const encoded = { 'content-encoding': 'gzip' }
      const packed = gzipSync(LARGE)
      const cut: Fault = (answer, response) => {
        withBody(packed, encoded)(answer, response)
        return cutAfter(packed.length / 2)(answer, response)
      }
      faulty(cut, withBody(packed, encoded))
      await readLarge()
      expect(asked('state/large').map(({ headers }) => headers.range)).toEqual([undefined, undefined])
    })

    it('ends with an error if it is cut eight times in a row', async () => {
      await open()
      faulty(...Array.from({ length: 8 }, () => cutAfter(0)))
      await expect(read('state/large')).rejects.toMatchObject({
        code: 'source_failed',
        message: expect.stringMatching(/^GET http.*\/state\/large failed 8 times; the last time: /),
      })
    })

    it('ends with an error if the object is longer or shorter than it was listed', async () => {
      await open()
      for (const by of [-1, 1]) {
        server!.faultOf = ({ isListing }) => (isListing ? undefined : withLengthOff(by))
        await expect(read('state/digits')).rejects.toMatchObject({
          code: 'source_failed',
          message: expect.stringContaining(`/e1/state/digits has changed (it has ${10 + by} bytes, it had 10)`),
        })
      }
    })

    it('ends with an error if more comes than was announced', async () => {
      await open()
      server!.faultOf = ({ isListing }) =>
        isListing
          ? undefined
          : (answer, response) => {
              response.writeHead(200)
              response.end(Buffer.concat([answer.body, answer.body]))
              return true
            }
      await expect(read('state/digits')).rejects.toThrow(/has changed \(20 bytes came\)/)
    })

    it.each(['If-Match', 'only its ETag'])(
      'ends with an error if the object is changed, noticed by %s',
      async (how) => {
        await open()
        server!.faultOf = ({ isListing, before, headers }) => {
          if (isListing) return undefined
          if (how !== 'If-Match') delete headers['if-match']
          if (before > 0) return undefined
          return (answer, response) => {
            cutAfter(100_000)(answer, response)
            put('e1/state/large', Buffer.from(LARGE).fill(1, 7, 8))
            return true
          }
        }
        await expect(readLarge()).rejects.toMatchObject({
          code: 'source_failed',
          message: expect.stringContaining('/e1/state/large has changed (its ETag has changed)'),
        })
      },
    )

    it('ends with an error if the object is gone, or may not be read', async () => {
      await open()
      expect(await storage!.find('state/digits')).toBeDefined()
      rmSync(join(folder, 'e1/state/digits'))
      await expect(read('state/digits')).rejects.toMatchObject({
        code: 'invalid_backup',
        message: `the backup is missing ${flavour}://bucket/e1/state/digits, which a listing or a manifest names`,
      })
      faulty(undefined, (answer) => {
        answer.status = 403
      })
      await expect(read('state/digits')).rejects.toThrow(
        `${flavour}://bucket/e1/state/digits cannot be read without credentials that have access (status 403, NoSuchKey: `,
      )
    })

    it('is made again if the server says nothing', async () => {
      // A listing takes less time than this even on a busy machine; eight failures in a row would be an error.
      await open({}, { silenceMs: 1_000 })
      faulty(silence)
      expect(await read('state/digits')).toBe('0123456789')
      expect(notices).toContainEqual(expect.stringMatching(/digits: nothing came for 1 s; asking again/))
    })

    it('continues if the server says nothing in the middle', async () => {
      await open({}, { silenceMs: 1_000 })
      server!.faultOf = ({ isListing, headers }) => (isListing || headers.range ? undefined : silentAfter(100_000))
      await readLarge()
      expect(notices).toContainEqual(expect.stringMatching(/large: nothing came for 1 s; asking again/))
      expect(asked('state/large').at(-1)!.headers.range).toMatch(/^bytes=[1-9]/)
    })

    it('is not given up while it trickles', async () => {
      await open({}, { silenceMs: 10_000 })
      faulty((answer, response) => {
        response.writeHead(200, { ...answer.headers, 'content-length': '10' })
        const trickle = (at: number) =>
          response.write(answer.body.subarray(at, at + 1), () => setImmediate(next, at + 1))
        const next = (at: number) => (at < 10 ? trickle(at) : response.end())
        trickle(0)
        return true
      })
      expect(await read('state/digits')).toBe('0123456789')
      expect(notices).toEqual([])
    })

    it('ends, in a pause too, when the storage is closed or the caller stops it', async () => {
      const stop = new AbortController()
      await open({}, { signal: stop.signal, onNotice: () => stop.abort() })
      faulty(busy(503, '100'))
      await expect(read('state/digits')).rejects.toMatchObject({
        code: 'source_failed',
        message: expect.stringMatching(/digits was stopped$/),
      })
      at(`${flavour}://bucket/e1`)
      server!.faultOf = () => () => {
        void storage!.close()
        return true
      }
      await expect(read('state/digits')).rejects.toThrow(/was stopped$/)
    })
  })

  describe('a busy server', () => {
    it.each([
      [429, '1', /status 429, SlowDown.*; asking again in 1\.0 s/],
      [503, '2', /status 503, SlowDown.*; asking again in 2\.0 s/],
      [500, undefined, /status 500, SlowDown.*; asking again in 0\.0 s/],
    ])('that answers %i is asked again, as Retry-After %j says', async (status, retryAfter, notice) => {
      await open()
      const stop = new AbortController()
      const onNotice = (text: string) => {
        notices.push(text)
        if (retryAfter) stop.abort()
      }
      at(`${flavour}://bucket/e1`, { signal: stop.signal, onNotice })
      server!.faultOf = ({ before }) => (before === 0 ? busy(status, retryAfter) : undefined)
      const reading = read('state/digits')
      if (retryAfter) await expect(reading).rejects.toThrow(/was stopped/)
      else expect(await reading).toBe('0123456789')
      expect(notices[0]).toMatch(notice)
    })

    it('is given up after eight answers in a row', async () => {
      await open()
      server!.faultOf = () => busy(503)
      await expect(storage!.find('state/digits')).rejects.toMatchObject({
        code: 'source_failed',
        message: expect.stringMatching(/^GET .*list-type=2.* failed 8 times; the last time: status 503, SlowDown/),
      })
    })
  })

  describe('a listing', () => {
    it.each([cutAfter(300), endAfter(300), endAfter(50), endAfter(0)])(
      'that is cut short is asked for again',
      async (fault) => {
        await open()
        server!.faultOf = ({ before }) => (before === 0 ? fault : undefined)
        expect((await list(storage!, 'state')).length).toBe(6)
      },
    )

    it('of no bucket says that its name may have changed', async () => {
      await open()
      await expect(list(at(`${flavour}://buket/e1`), 'state')).rejects.toMatchObject({
        code: 'invalid_argument',
        message: `there is no bucket at ${server!.origin}/buket; its name may have changed: look for the current one in the network's documentation`,
      })
    })

    it('that is denied says so', async () => {
      await open()
      server!.lists = false
      await expect(list(storage!, 'state')).rejects.toMatchObject({
        code: 'source_failed',
        message: `${server!.url} cannot be listed without credentials that have access (status 403, AccessDenied: Access Denied); alternatively, ingest a copy of the backup from a folder`,
      })
    })

    it.each([
      [htmlPage, /expected a bucket listing \(XML\) from \S+, found a page in HTML/],
      [withBody(Buffer.from('<?xml')), /failed 8 times; the last time: the listing cannot be read, or is cut short$/],
      [withBody(Buffer.from('<Error><Code>A</Code></Error>')), /expected a bucket listing \(XML\) from \S+, found A/],
      [
        withBody(Buffer.from('{"items":[]}')),
        /expected a bucket listing \(XML\) from \S+, found \d+ characters of \S+/,
      ],
      [busy(400), /answered 400: SlowDown$/],
    ])('with any other answer is an error of the source', async (fault, message) => {
      await open()
      server!.faultOf = () => fault
      await expect(list(storage!, 'state')).rejects.toMatchObject({
        code: 'source_failed',
        message: expect.stringMatching(message),
      })
    })

    it('ends if a page leads to itself', async () => {
      await open({ pageSize: 2 })
      let page: Buffer | undefined
      server!.faultOf = () => (answer) => {
        page ??= answer.body
        answer.body = page
      }
      await expect(list(storage!, 'state')).rejects.toThrow(/answered a page of the listing without a next page/)
    })
  })

  describe('a redirect', () => {
    it('is followed on the same server', async () => {
      await open()
      put('e1/state/moved', '0123456789')
      faulty(redirect(307, { location: '/bucket/e1/state/digits' }))
      expect(await read('state/moved')).toBe('0123456789')
    })

    it.each([
      [{ location: 'http://127.0.0.2/x' }, /leads to http:\/\/127\.0\.0\.2: not followed/],
      [{ location: 'file:///etc/hosts' }, /leads to no usable address: not followed/],
      [{ location: 'http://[' }, /leads to no usable address: not followed/],
      [{}, /leads to no usable address: not followed/],
      [{ location: '/bucket/e1/state/digits' }, /one redirect of many: not followed/],
    ])('to %j is not followed for ever, nor elsewhere', async (headers, message) => {
      await open()
      server!.faultOf = ({ isListing }) => (isListing ? undefined : redirect(302, headers as Record<string, string>))
      await expect(read('state/digits')).rejects.toMatchObject({
        code: 'source_failed',
        message: expect.stringMatching(message),
      })
      expect(asked('state/digits').length).toBeLessThanOrEqual(6)
    })

    it('is not followed with headers of the caller', async () => {
      await open({}, { headers: { authorization: 'Bearer secret' } })
      faulty(redirect(307, { location: '/bucket/e1/state/large' }))
      const error = await read('state/digits').catch((thrown: LedgerStateError) => thrown)
      expect(error).toBeInstanceOf(LedgerStateError)
      expect(String(error)).toMatch(/: not followed/)
      expect(String(error)).not.toMatch(/secret/)
      expect(asked('state/digits')[0]!.headers.authorization).toBe('Bearer secret')
    })
  })
})
