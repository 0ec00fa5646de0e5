import { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import { eventually } from '@ledger-state/testing/eventually'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectedTransaction, transactionOf } from '../../testing/expected-transaction.ts'
import { type StandInNode, sendError, startStandInNode } from '../../testing/stand-in-node.ts'
import { restPage, SYNTHETIC_CHAIN_ID, SyntheticChain } from '../../testing/synthetic-chain.ts'
import { openRestNode } from './rest-node.js'
import type { LedgerVersion, Reading, SourceOptions } from './source.js'

const chain = new SyntheticChain({ blocks: 70 })
const LAST = Number(chain.latestVersion)
const FAST = { firstPauseMs: 1, pollIntervalMs: 1 }

let node: StandInNode
let notices: string[]
beforeEach(async () => {
  node = await startStandInNode(chain)
  notices = []
})
afterEach(async () => {
  await node.close()
})

/**
 * Opens the node. Pages are proven in this thread unless the options say otherwise: starting another takes a third of a
 * second.
 */
const open = (options: SourceOptions = {}) =>
  openRestNode(node.url, { thread: false, onNotice: (message) => notices.push(message), ...options }, FAST)

async function read(options: SourceOptions = {}, from: Reading = {}) {
  const source = await open(options)
  const versions: LedgerVersion[] = []
  const marks: (Uint8Array | undefined)[] = []
  try {
    for await (const record of source.versions(from)) {
      versions.push(record)
      marks.push(source.mark)
    }
  } finally {
    await source.close()
  }
  return { versions, marks, source }
}

const plain = (versions: readonly VersionWrites[]) =>
  versions.map(({ version, block, writes }) => ({
    version,
    block,
    writes: writes.map(([key, value]) => [
      Buffer.from(key).toString('hex'),
      value && Buffer.from(value).toString('hex'),
    ]),
  }))

type Fault = StandInNode['faults'][number]

const answerWith =
  (type: string, body: string | Uint8Array): Fault =>
  (_, response) => {
    response.setHeader('content-type', type)
    response.end(body)
  }

const answerIndex = answerWith(
  'application/json',
  JSON.stringify({ chain_id: SYNTHETIC_CHAIN_ID, ledger_version: String(LAST) }),
)

const readGenesis = (key: Uint8Array) =>
  chain.expected[0]!.writes.find(([other]) => Buffer.compare(other, key) === 0)?.[1] ?? undefined

it('a node gives transactions that cannot be decoded as others, and says so once', async () => {
  const unknown = new SyntheticChain({ blocks: 70, unknownPayloads: true })
  await node.close()
  node = await startStandInNode(unknown)
  const { versions } = await read()
  expect(plain(versions)).toEqual(plain(unknown.expected))
  expect(notices.filter((notice) => notice.includes('decode'))).toEqual([
    expect.stringMatching(/has transactions that this program cannot decode: variant 9 of a payload;/),
  ])
})

describe('a node', () => {
  it('is read page by page up to its newest version, each page with the last of the one before', async () => {
    const { versions, source, marks } = await read({ thread: true })
    expect(plain(versions)).toEqual(plain(chain.expected))
    expect(source.chainId).toBe(SYNTHETIC_CHAIN_ID)
    expect(node.starts).toEqual([0, 99, 198].filter((start) => start < LAST))
    expect(Buffer.from(marks.at(-1)!).readBigUInt64LE(0)).toBe(BigInt(LAST + 1))
    expect(versions.map(transactionOf)).toEqual(chain.records.map((_, version) => expectedTransaction(chain, version)))
    expect(plain((await read({ verify: false })).versions)).toEqual(plain(chain.expected))
  })

  it('is asked for one page at first, then for one more ahead of it', async () => {
    const source = await open()
    const reading = source.versions()[Symbol.asyncIterator]()
    await reading.next()
    await eventually(
      () => node.starts.length === 2,
      () => `a second request: ${node.starts}`,
    )
    for (let version = 1; version < 100; version++) await reading.next()
    expect(node.starts).toEqual([0, 99])
    await reading.return?.()
    await source.close()
  })

  it('is asked for several pages at once while it takes long to answer, and every version comes in order', async () => {
    node.maxPage = 10
    // The latency grows until it exceeds the time in which this machine proves a page.
    for (let latencyMs = 10; node.mostWaiting <= 2; latencyMs *= 4) {
      node.latencyMs = latencyMs
      const { versions } = await read()
      expect(plain(versions)).toEqual(plain(chain.expected))
    }
  })

  it('is waited for when followed, and reports when it has nothing more for now', async () => {
    node.latest = 50
    const source = await open({ follow: true })
    const stop = new AbortController()
    const seen: bigint[] = []
    let idle = 0
    const onIdle = async () => {
      idle++
      node.latest = Math.min(LAST, node.latest + 30)
    }
    for await (const record of source.versions({ signal: stop.signal, onIdle })) {
      seen.push(record.version)
      if (record.version === BigInt(LAST)) stop.abort()
    }
    expect(seen).toEqual(chain.expected.map(({ version }) => version))
    expect(idle).toBeGreaterThan(2)
    await source.close()
  })

  it('that is behind the store is asked again without a notice, until it has caught up', async () => {
    const { marks } = await read()
    node.latest = 20
    node.starts.length = 0
    const source = await open({ follow: true })
    const onIdle = async () => {
      if (node.starts.length > 4) node.latest = LAST
    }
    const reading = source.versions({ version: 40n, mark: marks[40], onIdle })[Symbol.asyncIterator]()
    expect((await reading.next()).value?.version).toBe(40n)
    expect(node.starts.length).toBeGreaterThan(4)
    expect(notices).toEqual([])
    await reading.return?.()
    await source.close()
  })

  it('is asked again after failures', async () => {
    node.faults.push(
      (_, response) => sendError(response, 503, 'internal_error'),
      (request) => request.socket.destroy(),
      (_, response) => sendError(response, 429, 'internal_error'),
      (_, response) => {
        response.setHeader('content-length', 1000)
        response.write('{"chain')
        response.socket!.destroy()
      },
    )
    const { versions } = await read()
    expect(versions.length).toBe(LAST + 1)
    expect(notices.length).toBe(4)
    expect(notices[0]).toMatch(/status 503, internal_error; asking again in 0\.0 s/)
  })

  it('is not waited for after the source is closed', async () => {
    const source = await open()
    for (let times = 0; times < 3; times++) {
      node.faults.push((_, response) => sendError(response, 500, 'internal_error'))
    }
    const reading = source.versions({ version: 5n })[Symbol.asyncIterator]()
    const next = reading.next()
    await source.close()
    expect(await next).toMatchObject({ done: true })
  })

  it('is refused at once if its first answers are not from a node that serves BCS', async () => {
    const notFound: Fault = (_, response) => {
      response.statusCode = 404
      response.end('<html>not here</html>')
    }
    for (const follow of [false, true]) {
      node.faults.push(answerWith('text/html', '<html>'))
      await expect(read({ follow })).rejects.toMatchObject({
        code: 'source_failed',
        message: expect.stringMatching(/is not the API of a node/),
      })
      node.faults.push(notFound)
      const root = openRestNode(new URL(node.url).origin, { follow, thread: false })
      await expect(root).rejects.toThrow(/is not the API of a node.*; the URL of a node ends in \/v1$/)
      node.faults.push(notFound)
      await expect(read({ follow })).rejects.toThrow(/is not the API of a node.*status 404/)
      node.faults.push(answerIndex, notFound)
      await expect(read({ follow })).rejects.toThrow(/transactions\?start=0&limit=100 answered 404: a page in HTML/)
      node.faults.push(answerIndex, answerWith('application/json', '[]'))
      await expect(read({ follow })).rejects.toThrow(
        /answered application\/json: the node does not serve application\/x-bcs/,
      )
    }
    expect(notices).toEqual([])
  })

  it('must have a URL without a password, which no message repeats', async () => {
    const opening = openRestNode('http://user:secret@127.0.0.1:1/v1', {}, FAST)
    await expect(opening).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.not.stringMatching(/user:|secret/),
    })
    await expect(openRestNode('http://', {}, FAST)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('is reported if it has pruned the version wanted', async () => {
    node.oldest = 20
    for (const follow of [false, true]) {
      await expect(read({ follow }, { version: 5n })).rejects.toThrow(
        /the node has pruned version 5; use a backup or an archive node/,
      )
    }
    expect((await read({}, { version: 20n })).versions[0]?.version).toBe(20n)
  })
})

describe('a broken answer', () => {
  function damaged(start: number, limit: number, byte: number): Buffer {
    const page = Buffer.from(restPage(chain, start, limit))
    page[byte]! ^= 4
    return page
  }
  const BROKEN: [string, Buffer, RegExp][] = [
    ['a flipped bit in a transaction', damaged(1, 50, 40), /version 1: no TransactionInfo has the hash/],
    ['a flipped bit in the length', damaged(1, 50, 0), /version/],
    ['versions out of order', Buffer.from(restPage(chain, 7, 10)), /version 1: found version 7 instead/],
    [
      'an end before that of the page',
      Buffer.from(restPage(chain, 1, 50)).subarray(0, -9),
      /version 50: unexpected end/,
    ],
    [
      'more transactions than were asked for',
      Buffer.from(restPage(chain, 1, 101)),
      /answered 101 transactions that begin with version 1; at most 100 were requested/,
    ],
  ]

  it.each(BROKEN)('with %s is asked for again', async (_, page, message) => {
    node.faults.push(answerIndex, answerWith('application/x-bcs', page))
    expect(plain((await read({}, { version: 1n, read: readGenesis })).versions)).toEqual(plain(chain.expected.slice(1)))
    expect(notices).toEqual([expect.stringMatching(message)])
    expect(notices[0]).toMatch(/; asking again in 0\.0 s; if it lasts, use another node$/)
  })

  it.each(BROKEN)('with %s is an error after three of them', async (_, page, message) => {
    node.faults.push(answerIndex, ...Array(3).fill(answerWith('application/x-bcs', page)))
    await expect(read({}, { version: 1n })).rejects.toMatchObject({
      code: expect.stringMatching(/verification_failed|source_failed/),
      message: expect.stringMatching(message),
    })
  })

  it.runIf(isSlowRun)('is asked for again without end by a follower, whatever it is', async () => {
    const stop = new AbortController()
    const source = await open({ follow: true })
    const page = damaged(99, 50, 40)
    const versions: VersionWrites[] = []
    for await (const record of source.versions({ signal: stop.signal })) {
      versions.push(record)
      if (versions.length === 1) {
        // Applies to the page that is requested ahead, if it is not yet answered, or to the page after it.
        node.faults.push(
          ...Array(6).fill(answerWith('application/x-bcs', page)),
          answerWith('text/html', '<html>maintenance'),
          (_, response) => {
            response.statusCode = 404
            response.end('not here')
          },
        )
      }
      if (record.version === BigInt(LAST)) stop.abort()
    }
    await source.close()
    expect(plain(versions)).toEqual(plain(chain.expected))
    expect(notices.length).toBe(8)
  })
})

it.each([4.5, -1, 256, 1e308])('an index with the chain id %d is that of no node', async (chainId) => {
  node.faults.push(answerWith('application/json', JSON.stringify({ chain_id: chainId, ledger_version: '1' })))
  await expect(open()).rejects.toMatchObject({ code: 'source_failed', message: /is not the API of a node/ })
})

it('a long index is refused at once, unparsed', async () => {
  node.faults.push(answerWith('application/json', '['.repeat(2 ** 20 + 1)))
  const message = `${node.url} answered more than 1048576 bytes`
  await expect(open()).rejects.toMatchObject({ code: 'source_failed', message })
})

it('a content type of a stranger is shown in one short line', async () => {
  node.faults.push(answerIndex, answerWith(`text/plain;\u009b31m${'x'.repeat(1_000)}`, 'x'))
  const error = await read().catch((error: Error) => error)
  expect((error as Error).message).toMatch(
    / answered text\/plain;\S* 31mx+… \(\d+ characters\): the node does not serve/,
  )
})

describe('a fork', () => {
  const other = new SyntheticChain({ blocks: 70, seed: 9 })

  it('is found if a version comes back different', async () => {
    const source = await open({ verify: false })
    const reading = async () => {
      for await (const record of source.versions()) if (record.version === 50n) node.chain = other
    }
    // The second page may have been requested before the change, so the second or the third is the first of the other
    // ledger.
    node.latest = Math.min(LAST, Number(other.latestVersion))
    await expect(reading()).rejects.toMatchObject({
      code: 'ledger_fork',
      message: expect.stringMatching(/version (99|198) does not continue the ledger/),
    })
    await source.close()
  })

  it('is found if a version does not continue the accumulator of the ledger read before', async () => {
    const { marks } = await read()
    node.chain = other
    node.latest = Number(other.latestVersion)
    await expect(read({}, { version: 20n, mark: marks[20] })).rejects.toMatchObject({
      code: 'ledger_fork',
      fields: { version: 21n },
    })
    await expect(read({ verify: false }, { version: 20n, mark: marks[20] })).resolves.toBeDefined()
  })

  it('is not recognized if a single answer is damaged', async () => {
    const { marks } = await read()
    const page = Buffer.from(restPage(chain, 20, 50))
    // Flips a bit in the accumulator root of the last version, which proves the whole page.
    page[page.indexOf(chain.accumulatorRoot(70))]! ^= 1
    notices = []
    node.faults.push(answerIndex, answerWith('application/x-bcs', page))
    const { versions } = await read({ follow: false }, { version: 20n, mark: marks[20] })
    expect(versions.at(-1)!.version).toBe(BigInt(LAST))
    expect(notices).toEqual([
      expect.stringMatching(/version 69 does not continue the ledger read so far.*asking again/),
    ])
  })
})

describe('a mark of an earlier version than those that are wanted', () => {
  const from = { version: 60n, read: readGenesis }

  it('reads the versions after an earlier mark, too, and skips those before the requested one', async () => {
    const { marks } = await read()
    const { versions, marks: later } = await read({}, { ...from, mark: marks[20] })
    expect(node.starts.slice(-3)).toContain(21)
    expect(versions.map(({ version }) => Number(version))).toEqual(chain.expected.map((_, at) => at).slice(60))
    expect(later).toEqual(marks.slice(60))
  })

  it('is refused if it covers versions after the first that is wanted: it would not prove them', async () => {
    const { marks } = await read()
    await expect(read({}, { ...from, mark: marks[61] })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'the mark belongs to version 61, so it cannot prove what is read from version 60 on',
    })
  })

  it('shows a node that has another ledger between', async () => {
    const { marks } = await read()
    node.chain = new SyntheticChain({ blocks: 60, seed: 9 })
    node.latest = Number(node.chain.latestVersion)
    await expect(read({}, { ...from, mark: marks[20] })).rejects.toMatchObject({ code: 'ledger_fork' })
  })

  it('counts for nothing if nothing is to be proven', async () => {
    const { marks } = await read()
    const unproven = await read({ verify: false }, { ...from, mark: marks[20] })
    expect(unproven.versions[0]!.version).toBe(60n)
    expect(unproven.marks.every((mark) => mark === undefined)).toBe(true)
  })
})

describe('an answer that would end the reading for good', () => {
  const ofOtherChain: Fault = (_, response) => {
    response.setHeader('x-svc-chain-id', 7)
    response.setHeader('x-svc-ledger-version', 1_000_000)
    response.setHeader('content-type', 'application/x-bcs')
    response.end(Buffer.of(0))
  }
  const waitingOnOtherChain: Fault = (_, response) => {
    response.setHeader('x-svc-chain-id', 7)
    sendError(response, 404, 'version_not_found')
  }
  const pruned: Fault = (_, response) => sendError(response, 410, 'version_pruned')
  const ENDS: [string, Fault, string, RegExp][] = [
    ['a page of another chain', ofOtherChain, 'chain_id_mismatch', /now has chain 7; it had chain 42 before/],
    ['a 404 of another chain', waitingOnOtherChain, 'chain_id_mismatch', /now has chain 7; it had chain 42 before/],
    ['a pruned version', pruned, 'source_failed', /the node has pruned version/],
  ]

  it.each(ENDS)('because of %s is asked for again when it came once or twice', async (_, fault, _code, message) => {
    for (const times of [1, 2]) {
      notices = []
      const source = await open({ follow: true })
      const stop = new AbortController()
      const versions: VersionWrites[] = []
      node.faults.push(...Array(times).fill(fault))
      for await (const record of source.versions({ signal: stop.signal })) {
        versions.push(record)
        if (record.version === BigInt(LAST)) stop.abort()
      }
      expect(plain(versions)).toEqual(plain(chain.expected))
      expect(notices.length).toBe(times)
      for (const notice of notices) expect(notice).toMatch(message)
      expect(source.progress.total).toBe(LAST + 1)
      await source.close()
    }
  })

  it.each(ENDS)('because of %s is accepted when it came three times in a row', async (_, fault, code, message) => {
    for (const follow of [false, true]) {
      const source = await open({ follow })
      node.faults.push(fault, fault, fault)
      await expect(source.versions()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
        fields: { answers: 3 },
      })
      await source.close()
    }
    expect(node.faults).toEqual([])
  })

  it('because an announced version is absent is accepted when it came three times in a row', async () => {
    const behind: Fault = (_, response) => {
      response.setHeader('x-svc-ledger-version', 3)
      sendError(response, 404, 'version_not_found')
    }
    node.faults.push(answerIndex, behind)
    expect(plain((await read()).versions)).toEqual(plain(chain.expected))
    expect(notices).toEqual([expect.stringMatching(/but now does not have version 0; asking again in/)])
    // Pages ahead are asked for, too.
    node.faults.push(answerIndex, ...Array(20).fill(behind))
    await expect(read()).rejects.toMatchObject({ code: 'source_failed', fields: { answers: 3 } })
  })

  it('is not accepted if a good answer comes in between', async () => {
    const source = await open({ follow: true })
    node.latest = 10
    const stop = new AbortController()
    const reading = source.versions({ signal: stop.signal })[Symbol.asyncIterator]()
    for (let version = 0; version <= 10; version++) await reading.next()
    for (const latest of [20, 30, 40]) {
      node.faults.push(ofOtherChain, ofOtherChain)
      node.latest = latest
      for (let version = latest - 9; version <= latest; version++) {
        expect((await reading.next()).value?.version).toBe(BigInt(version))
      }
    }
    stop.abort()
    await source.close()
  })

  it('does not come from a node behind the others that announces an older ledger', async () => {
    const source = await open({ follow: true })
    node.latest = 30
    const stop = new AbortController()
    const seen: bigint[] = []
    const older: Fault = (_, response) => {
      response.setHeader('x-svc-ledger-version', 3)
      sendError(response, 404, 'version_not_found')
    }
    for await (const { version } of source.versions({ signal: stop.signal })) {
      seen.push(version)
      if (version === 30n) {
        node.faults.push(older, older, older, older)
        node.latest = 60
      }
      if (version === 60n) stop.abort()
    }
    expect(seen).toEqual(chain.expected.slice(0, 61).map(({ version }) => version))
    expect(notices).toEqual([])
    await source.close()
  })
})

describe('a Ledger State node, which keeps no transactions', () => {
  it('is refused with a source to follow instead', async () => {
    const asLedgerState =
      (software: string): Fault =>
      (request, response) => {
        if (request.url!.startsWith('/v1/transactions')) sendError(response, 403, 'api_disabled')
        else response.end(JSON.stringify({ software, chain_id: SYNTHETIC_CHAIN_ID, ledger_version: String(LAST) }))
      }
    node.faults.push(...Array.from({ length: 20 }, () => asLedgerState('ledger-state')))
    await expect(read()).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/is a Ledger State node that .* --replica-of /),
    })
    node.faults.splice(0, Infinity, ...Array.from({ length: 20 }, () => asLedgerState('another')))
    await expect(read()).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/answered 403/),
    })
  })
})
