import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { VersionWrites } from '@ledger-state/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { headToFeedLine } from '../wire/feed-head.js'
import { feedHeaderLine, versionToFeedLine } from '../wire/feed-line-writer.js'
import { LiveFeed, parseFeedIndex } from './live-feed.js'
import { openSource } from './open-source.js'

const CHAIN = 4
const LAST = 20

type FeedHandler = (request: IncomingMessage, response: ServerResponse) => void

let server: Server
let url: string
let notices: string[]
/** Handlers that answer the next requests for the feed, one each. */
let faults: FeedHandler[]
/** Handlers that answer the next requests for the index, one each. */
let indexes: FeedHandler[]
/** Version after which each connection ends. */
let cutAfter: number

beforeEach(async () => {
  notices = []
  faults = []
  cutAfter = LAST
  indexes = []
  server = createServer((request, response) => {
    const answers = request.url === '/' && indexes.length > 0 ? indexes : faults
    ;(answers.shift() ?? answer)(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

function recordOf(version: bigint): VersionWrites {
  const block = { height: version, epoch: 0n, timestampUsec: version }
  return { version, block, writes: [[Uint8Array.of(Number(version)), Uint8Array.of(1)]] }
}

const answer: FeedHandler = (request, response) => {
  const from = Number(new URL(request.url!, url).searchParams.get('from'))
  const lines = [feedHeaderLine({ chainId: CHAIN })]
  for (let version = from; version <= Math.min(LAST, cutAfter); version++) {
    lines.push(versionToFeedLine(recordOf(BigInt(version))))
  }
  const head = headToFeedLine({ version: BigInt(LAST), writesHash: undefined, mark: undefined })
  response.end(`${lines.join('\n')}\n${cutAfter < LAST ? '' : `${head}\n`}`)
  cutAfter += 5
}

const text =
  (status: number, body: string): FeedHandler =>
  (_, response) =>
    response.writeHead(status).end(body)

const ofOtherChain = text(200, `${feedHeaderLine({ chainId: 9 })}\n`)
const gone = text(410, '{"message":"the feed begins after version 900"}')

const indexWith = (oldest: string) =>
  text(200, JSON.stringify({ format: 'ledger-feed', chain_id: CHAIN, oldest_version: oldest, latest_version: '20' }))

/** Follows the feed up to its last version, and returns the versions. */
async function follow(): Promise<bigint[]> {
  const index = { chainId: CHAIN, oldestVersion: 0n, latestVersion: BigInt(LAST) }
  const feed = new LiveFeed(url, index, { follow: true, onNotice: (message) => notices.push(message) }, 1)
  const stop = new AbortController()
  const seen: bigint[] = []
  for await (const { version } of feed.versions({ version: 1n, signal: stop.signal })) {
    seen.push(version)
    if (version === BigInt(LAST)) stop.abort()
  }
  await feed.close()
  return seen
}

const ALL = Array.from({ length: LAST }, (_, at) => BigInt(at + 1))

describe('a live feed that is followed', () => {
  it.each([
    ['HTML of a proxy', text(200, '<html>maintenance</html>')],
    ['a 404', text(404, 'not here')],
    ['a 401', text(401, '')],
    ['a 400', text(400, '{"message":"from=VERSION is missing"}')],
    ['a 502', text(502, '')],
    ['a line that is cut short', text(200, '{"format":"ledger-feed","form')],
    ['a line of other JSON', text(200, '[]\n')],
    ['an empty answer', text(200, '')],
    ['a head without its versions', text(200, `${feedHeaderLine({ chainId: CHAIN })}\n{"head":{"version":"5"}}\n`)],
    ['versions out of order', text(200, `${feedHeaderLine({ chainId: CHAIN })}\n${versionToFeedLine(recordOf(7n))}\n`)],
    ['a connection that is cut', (request: IncomingMessage) => request.socket.destroy()],
  ] satisfies [string, FeedHandler][])('is asked again for %s, however often it comes', async (_, fault) => {
    faults.push(fault, fault, fault, fault)
    expect(await follow()).toEqual(ALL)
    expect(notices.length).toBe(4)
  })

  it.each([
    ['another chain', 'chain_id_mismatch', ofOtherChain],
    ['versions that are gone', 'version_gap', gone],
  ])('accepts %s when three answers in a row say so', async (_, code, fault) => {
    indexes = Array.from({ length: 5 }, () => indexWith('0'))
    faults.push(fault, fault)
    expect(await follow()).toEqual(ALL)
    expect(notices.length).toBe(2)
    faults.push(fault, fault, fault)
    await expect(follow()).rejects.toMatchObject({ code, fields: { answers: 3 } })
    expect(faults).toEqual([])
  })

  it('goes on after its oldest version, if the source has pruned up to the version of the store since it was opened', async () => {
    faults.push(gone)
    indexes.push(indexWith('1'))
    expect(await follow()).toEqual(ALL.slice(1))
    expect(notices).toEqual([])
    faults.push(gone, gone, gone, gone)
    indexes.push(indexWith('1'), indexWith('2'), indexWith('2'))
    await expect(follow()).rejects.toMatchObject({ code: 'version_gap', fields: { answers: 3 } })
    expect(faults).toEqual([])
  })

  it('is asked again after a head below the head before, as the versions above were cut off', async () => {
    const head = (version: bigint) => headToFeedLine({ version, writesHash: undefined, mark: undefined })
    const lines = [1n, 2n].map((version) => versionToFeedLine(recordOf(version)))
    faults.push(
      text(200, `${[feedHeaderLine({ chainId: CHAIN }), ...lines, head(2n), head(1n), head(5n)].join('\n')}\n`),
    )
    expect(await follow()).toEqual(ALL)
    expect(notices).toEqual([expect.stringMatching(/: the newest version is 1; it was 2 before: .*; asking again in/)])
  })

  it('is asked again when its Retry-After says so', async () => {
    faults.push((_, response) => response.writeHead(503, { 'retry-after': '1' }).end('busy'))
    expect(await follow()).toEqual(ALL)
    expect(notices).toEqual([expect.stringMatching(/: status 503; asking again in 1\.0 s$/)])
  })

  it('is not followed to another server', async () => {
    const other = createServer((_, response) => response.end('SECRET'))
    const asked: string[] = []
    other.on('request', (request) => asked.push(request.url ?? ''))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/SECRET`
    faults.push((_, response) => response.writeHead(307, { location }).end('SECRET'))
    expect(await follow()).toEqual(ALL)
    expect(notices).toEqual([expect.stringMatching(/: status 307, which leads to .*: not followed.*; asking again in/)])
    expect(notices[0]).not.toMatch(/SECRET/)
    expect(asked).toEqual([])
    other.close()
  })

  it('names a gateway that answers in its place', async () => {
    faults.push((_, response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<html>gone</html>'))
    expect(await follow()).toEqual(ALL)
    expect(notices).toEqual([
      expect.stringMatching(/: status 503: a proxy or gateway answered, not the server itself; /),
    ])
  })

  it('pauses between heads that come without versions', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const heads = '{"head":{"version":"0"}}\n'.repeat(1_000)
      faults.push((_, response) => response.write(`${feedHeaderLine({ chainId: CHAIN })}\n${heads}`))
      const index = { chainId: CHAIN, oldestVersion: 0n, latestVersion: BigInt(LAST) }
      const feed = new LiveFeed(url, index, { follow: true })
      const stop = new AbortController()
      let heard = 0
      const onIdle = async () => void heard++
      const reading = feed.versions({ version: 1n, signal: stop.signal, onIdle }).next()
      while (heard < 17) await nextTurn()
      for (let turn = 0; turn < 100; turn++) await nextTurn()
      expect(heard).toBe(17)
      stop.abort()
      expect(await reading).toMatchObject({ done: true })
      await feed.close()
    } finally {
      vi.useRealTimers()
    }
  })

  it('counts again after a version', async () => {
    cutAfter = 3
    indexes = Array.from({ length: 4 }, () => indexWith('0'))
    faults.push(gone, gone, answer, gone, gone, answer, ofOtherChain, ofOtherChain)
    expect(await follow()).toEqual(ALL)
  })
})

describe('the index of a feed', () => {
  const index = { format: 'ledger-feed', chain_id: 4, oldest_version: '0', latest_version: '9' }

  it('is refused if a member is missing or of another kind', () => {
    expect(parseFeedIndex(index)).toEqual({ chainId: 4, oldestVersion: 0n, latestVersion: 9n })
    for (const wrong of [
      { chain_id: '4' },
      { chain_id: 4.5 },
      { chain_id: 256 },
      { oldest_version: undefined },
      { latest_version: 9 },
      { latest_version: '-1' },
      { latest_version: '99999999999999999999' },
    ]) {
      expect(parseFeedIndex({ ...index, ...wrong })).toBeUndefined()
    }
  })

  it('that is damaged is a failure of the source', async () => {
    for (const body of ['{"format":"ledger-feed","chain_id":4}', '{"format":"ledger-feed","chain', 'null', '']) {
      faults.push(text(200, body))
      await expect(openSource(url, { follow: true })).rejects.toMatchObject({ code: 'source_failed' })
    }
  })
})

describe('a source that does not answer', () => {
  it('is no longer waited for once its opening is stopped', async () => {
    const stop = new AbortController()
    server.removeAllListeners('request').on('request', () => stop.abort())
    const opening = openSource(url, { follow: true, signal: stop.signal })
    await expect(opening).rejects.toMatchObject({ code: 'source_failed', message: expect.stringMatching(/stopped/) })
  })
})
