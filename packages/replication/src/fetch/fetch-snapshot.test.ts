import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VersionWrites } from '@ledger-state/core'
import { openStateEngine, openStateEngineReader, STORE_FILE, type StateEngine } from '@ledger-state/state-engine'
import { type Damage, type DamagingProxy, flipBit, startDamagingProxy } from '@ledger-state/testing/damaging-proxy'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it, onTestFailed } from 'vitest'
import { createFeedListener, type FeedListener } from '../serve/feed-listener.js'
import { fetchSnapshot } from './fetch-snapshot.js'

const RANDOM_ROUNDS = isSlowRun ? 60 : 4

let folder: string
let source: StateEngine
let feed: FeedListener
let server: Server
let proxy: DamagingProxy
let notices: string[]

beforeEach(async () => {
  notices = []
  folder = mkdtempSync(join(tmpdir(), 'snapshot-'))
  source = openStateEngine({ path: join(folder, 'source'), durability: 'none' })
  const versions = Array.from({ length: 500 }, (_, at): VersionWrites => {
    const version = BigInt(at)
    const block = { height: version, epoch: 0n, timestampUsec: version }
    return { version, block, writes: [[Buffer.from(`key ${at % 90}`), Buffer.alloc(at % 700, at)]] }
  })
  await source.commit(versions, { chainId: 4 })
  feed = createFeedListener({ engine: source, snapshotFolder: join(folder, 'snapshots') })
  server = createServer(feed.listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  proxy = await startDamagingProxy(() => `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterEach(async () => {
  await proxy.close()
  feed.close()
  server.closeAllConnections()
  server.close()
  await source.close()
  rmSync(folder, { recursive: true, force: true })
})

const everything = (engine: Pick<StateEngine, 'at'>) =>
  [...engine.at().scan(new Uint8Array(0))].map(({ key, value }) => [hex(key), hex(value)])
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

const replica = () => join(folder, 'replica')
const fetchIt = () =>
  fetchSnapshot(proxy.url, replica(), { firstPauseMs: 5, onNotice: (message) => notices.push(message) })

async function expectWhole(): Promise<void> {
  const engine = openStateEngineReader({ path: replica() })
  try {
    expect((await engine.check()).problems).toEqual([])
    expect(everything(engine)).toEqual(everything(source))
  } finally {
    await engine.close()
  }
  expect(readdirSync(replica()).filter((name) => name.startsWith('snapshot'))).toEqual([])
}

const KINDS = {
  index: /^GET \/$/,
  manifest: /^POST \/snapshots$/,
  file: /^GET \/snapshots\/.*\/state\.mdb$/,
}

/** Damages the first answers to requests of a kind, each in its way. */
function damage(kind: RegExp, damages: readonly Damage[]): void {
  const left = [...damages]
  proxy.damageOf = (method, path) => (kind.test(`${method} ${path}`) ? left.shift() : undefined)
}

const answerWith =
  (status: number, text: string): Damage =>
  (_, response) =>
    response.writeHead(status).end(text)
const cutShort: Damage = (body, response) => response.end(body.subarray(0, body.length >> 1))
const breakOff: Damage = (body, response) => {
  response.setHeader('content-length', body.length)
  response.write(body.subarray(0, body.length >> 1))
  setImmediate(() => response.destroy())
}
/** Makes a damage that changes the manifest in an answer. */
const changing =
  (
    change: (manifest: { pieceBytes: number; files: { bytes: number; pieces: string[]; name: string }[] }) => void,
  ): Damage =>
  (body, response) => {
    const manifest = JSON.parse(body.toString())
    change(manifest)
    response.end(JSON.stringify(manifest))
  }
const dataFile = (files: readonly { name: string; bytes: number; pieces: string[] }[]) =>
  files.find(({ name }) => name === STORE_FILE)!

const DAMAGES: [string, RegExp, Damage][] = [
  ['an index of HTML', KINDS.index, answerWith(200, '<html>')],
  ['an index that is cut short', KINDS.index, cutShort],
  ['an index that breaks off', KINDS.index, breakOff],
  ['an index with status 429', KINDS.index, answerWith(429, 'too many requests')],
  ['an index with status 403', KINDS.index, answerWith(403, '<html>')],
  ['a manifest of HTML', KINDS.manifest, answerWith(200, '<html>')],
  ['a manifest that is cut short', KINDS.manifest, cutShort],
  ['a manifest with status 500', KINDS.manifest, answerWith(500, '{"message":"the store cannot be read"}')],
  ['a manifest with status 404', KINDS.manifest, answerWith(404, '<html>')],
  [
    'a manifest with another hash',
    KINDS.manifest,
    changing(({ files }) => {
      dataFile(files).pieces[0] = 'a'.repeat(64)
    }),
  ],
  [
    'a manifest with another length',
    KINDS.manifest,
    changing(({ files }) => {
      dataFile(files).bytes += 8
    }),
  ],
  [
    'a manifest with a shorter length',
    KINDS.manifest,
    changing(({ files }) => {
      dataFile(files).bytes -= 8
    }),
  ],
  [
    'a manifest with another name',
    KINDS.manifest,
    changing(({ files }) => {
      dataFile(files).name = 'state.mdc'
    }),
  ],
  [
    'a manifest with a name outside',
    KINDS.manifest,
    changing(({ files }) => {
      dataFile(files).name = `../${STORE_FILE}`
    }),
  ],
  ['a flipped bit at the beginning of a file', KINDS.file, flipBit(0)],
  ['a flipped bit in the middle of a file', KINDS.file, flipBit()],
  ['a flipped bit at the end of a file', KINDS.file, flipBit(1)],
  ['a file that is cut short', KINDS.file, cutShort],
  ['a file that breaks off', KINDS.file, breakOff],
  ['an empty file', KINDS.file, answerWith(200, '')],
  ['a file with status 404', KINDS.file, answerWith(404, 'no such file')],
  ['a file with status 503', KINDS.file, answerWith(503, 'too many transfers')],
  ['a file of HTML', KINDS.file, answerWith(200, '<html>maintenance</html>')],
  ['a file that is too long', KINDS.file, (body, response) => response.end(Buffer.concat([body, Buffer.alloc(9)]))],
]

const isFile = (path: string): boolean => /^\/snapshots\/[^/]+\/./.test(path)

it('a snapshot of which only a part got its place is not fetched again', async () => {
  const asked: string[] = []
  proxy.damageOf = (_, path) => {
    asked.push(path)
    return undefined
  }
  // The data file comes last.
  const inTheWay = join(replica(), STORE_FILE)
  mkdirSync(inTheWay, { recursive: true })
  await expect(fetchIt()).rejects.toMatchObject({ code: 'EISDIR' })
  expect(readdirSync(replica()).filter((name) => name.startsWith('write-ahead'))).not.toEqual([])
  rmdirSync(inTheWay)
  asked.length = 0
  expect(await fetchIt()).toBe(true)
  expect(asked.filter(isFile)).toEqual([])
  await expectWhole()
})

it('a snapshot that cannot be opened now is kept, and checked by the next call', async () => {
  const asked: string[] = []
  // The system opens a folder as the next file, and does not read it.
  const inTheWay = join(replica(), 'snapshot.unfinished', 'write-ahead-2')
  proxy.damageOf = (_, path) => {
    asked.push(path)
    if (isFile(path) && !existsSync(inTheWay)) mkdirSync(inTheWay)
    return undefined
  }
  await expect(fetchIt()).rejects.toMatchObject({ code: 'store_failed' })
  rmdirSync(inTheWay)
  asked.length = 0
  expect(await fetchIt()).toBe(true)
  expect(asked.filter(isFile)).toEqual([])
  await expectWhole()
})

it('a source that is too busy is asked again when its Retry-After says so', async () => {
  damage(KINDS.index, [(_, response) => response.writeHead(503, { 'retry-after': '7' }).end('too many transfers')])
  const stop = new AbortController()
  const onNotice = (message: string) => {
    notices.push(message)
    stop.abort()
  }
  expect(await fetchSnapshot(proxy.url, replica(), { firstPauseMs: 5, onNotice, signal: stop.signal })).toBe(false)
  expect(notices).toEqual([expect.stringMatching(/: status 503; resuming in 7\.0 s$/)])
})

it.each([KINDS.index, KINDS.manifest, KINDS.file])(
  'a source that leads to another server is not followed: %s',
  async (kind) => {
    const asked: string[] = []
    const other = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end('SECRET')
    })
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/SECRET`
    const elsewhere: Damage = (_, response) => response.writeHead(307, { location }).end('SECRET')
    damage(kind, [elsewhere, elsewhere, elsewhere])
    const error = await fetchIt().catch((thrown: Error) => thrown)
    expect(error).toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/: status 307, .* not followed/),
    })
    expect(`${error} ${notices}`).not.toMatch(/SECRET/)
    expect(asked).toEqual([])
    other.close()
  },
)

describe('a snapshot that is damaged on its way', () => {
  it.each(DAMAGES)('is fetched again: %s', async (_, kind, fault) => {
    damage(kind, [fault])
    expect(await fetchIt()).toBe(true)
    await expectWhole()
  })

  it('is fetched again starting with the damaged piece', async () => {
    damage(KINDS.file, [flipBit()])
    await fetchIt()
    expect(notices).toEqual([
      expect.stringMatching(/^state\.mdb arrived damaged: the piece at byte 0 .*; asking again in/),
    ])
  })

  it.each([
    ['source_failed', KINDS.index, answerWith(200, '<html>')],
    ['source_failed', KINDS.manifest, cutShort],
    ['source_failed', KINDS.file, flipBit()],
    ['source_failed', KINDS.file, answerWith(403, 'not here')],
  ] satisfies [string, RegExp, Damage][])('is %s where three answers in a row are: %s', async (code, kind, fault) => {
    damage(kind, [fault, fault, fault])
    await expect(fetchIt()).rejects.toMatchObject({ code, fields: { answers: 3 } })
    expect(existsSync(join(replica(), STORE_FILE))).toBe(false)
    expect(await fetchIt()).toBe(true)
    await expectWhole()
  })

  it.each([
    [1, 'whole'],
    [3, 'store_corrupt'],
  ])('is fetched again where its hashes are right and the check fails; %i times: %s', async (times, outcome) => {
    const forge = (body: Buffer) => body.fill(0xa5, 8_192)
    const snapshots = join(folder, 'snapshots')
    const forgedHash = () => {
      const copy = readFileSync(join(snapshots, readdirSync(snapshots)[0]!, STORE_FILE))
      return createHash('sha256').update(forge(copy)).digest('hex')
    }
    let left = times
    proxy.damageOf = (method, path) => {
      if (left === 0 || !path.startsWith('/snapshots')) return undefined
      if (!KINDS.file.test(`${method} ${path}`)) {
        return path.split('/').length < 4
          ? changing(({ files }) => {
              dataFile(files).pieces[0] = forgedHash()
            })
          : undefined
      }
      left--
      return (body, response) => response.end(forge(body))
    }
    if (outcome === 'whole') {
      expect(await fetchIt()).toBe(true)
      await expectWhole()
    } else {
      await expect(fetchIt()).rejects.toMatchObject({ code: outcome, fields: { answers: 3 } })
      expect(existsSync(join(replica(), STORE_FILE))).toBe(false)
    }
    expect(left).toBe(0)
  })

  it('in whatever way, any number of times, becomes a sound store or none', async () => {
    const seed = testSeed()
    onTestFailed(() => console.error(`TEST_SEED=${seed} repeats the random choices of this test`))
    const random = createRandom(seed)
    for (let round = 0; round < RANDOM_ROUNDS; round++) {
      rmSync(replica(), { recursive: true, force: true })
      proxy.damageOf = () => {
        if (random.below(3) > 0) return undefined
        return random.pick([
          flipBit(random.below(1_000) / 1_000),
          cutShort,
          answerWith(404, ''),
          answerWith(200, '<html>'),
        ])
      }
      const isThere = await fetchIt().catch((error) => {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(source_failed|store_corrupt)$/) })
        return false
      })
      expect(existsSync(join(replica(), STORE_FILE))).toBe(isThere)
      if (isThere) await expectWhole()
    }
  })
})
