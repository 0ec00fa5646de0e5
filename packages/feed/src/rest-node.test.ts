import type { VersionWrites } from '@ledger-state/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type StandInNode, sendError, startStandInNode } from '../testing/stand-in-node.ts'
import { restPage, SYNTHETIC_CHAIN_ID, SyntheticChain } from '../testing/synthetic-chain.ts'
import { openSource } from './open-source.js'
import type { Reading, SourceOptions } from './source.js'

const chain = new SyntheticChain({ blocks: 70 })
const LAST = Number(chain.latestVersion)

let node: StandInNode
let notices: string[]
beforeEach(async () => {
  node = await startStandInNode(chain)
  notices = []
})
afterEach(async () => {
  await node.close()
})

async function read(options: SourceOptions = {}, from: Reading = {}) {
  const source = await openSource(node.url, { onNotice: (message) => notices.push(message), ...options })
  const versions: VersionWrites[] = []
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

describe('a node', () => {
  it('is read page by page up to its newest version, each page with the last of the one before', async () => {
    const { versions, source, marks } = await read()
    expect(plain(versions)).toEqual(plain(chain.expected))
    expect(source.chainId).toBe(SYNTHETIC_CHAIN_ID)
    expect(node.starts).toEqual([0, 99, 198].filter((start) => start < LAST))
    expect(Buffer.from(marks.at(-1)!).readBigUInt64LE(0)).toBe(BigInt(LAST + 1))
    expect(plain((await read({ verify: false })).versions)).toEqual(plain(chain.expected))
  })

  it('is asked for one page ahead and no more', async () => {
    const source = await openSource(node.url)
    const reading = source.versions()[Symbol.asyncIterator]()
    await reading.next()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(node.starts).toEqual([0, 99])
    await reading.return?.()
    await source.close()
  })

  it('is waited for when followed, and tells when there is nothing more for now', async () => {
    node.latest = 50
    const source = await openSource(node.url, { follow: true })
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

  it('is asked again after failures, and not before it allows', async () => {
    let limitedAt = 0
    node.faults.push(
      (_, response) => sendError(response, 503, 'internal_error'),
      (request) => request.socket.destroy(),
      (_, response) => {
        limitedAt = performance.now()
        response.setHeader('retry-after', '1')
        sendError(response, 429, 'internal_error')
      },
      (_, response) => {
        expect(performance.now() - limitedAt).toBeGreaterThan(950)
        response.setHeader('content-length', 1000)
        response.write('{"chain')
        response.socket!.destroy()
      },
    )
    const { versions } = await read()
    expect(versions.length).toBe(LAST + 1)
    expect(notices.length).toBe(4)
    expect(notices[0]).toMatch(/status 503; asking again in 0\.\d s/)
  })

  it('is not waited for when the source is closed', async () => {
    const source = await openSource(node.url)
    for (let times = 0; times < 3; times++) {
      node.faults.push((_, response) => sendError(response, 500, 'internal_error'))
    }
    const reading = source.versions({ version: 5n })[Symbol.asyncIterator]()
    const next = reading.next()
    await source.close()
    expect(await next).toMatchObject({ done: true })
  })

  it('has to be a node that serves BCS', async () => {
    node.faults.push((_, response) => response.end('<html>'))
    await expect(read()).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/is no API of a node/),
    })
    node.faults.push(
      (_, response) => response.end(JSON.stringify({ chain_id: 1, ledger_version: '5' })),
      (_, response) => {
        response.setHeader('content-type', 'application/json')
        response.end('[]')
      },
    )
    await expect(read()).rejects.toThrow(/answered application\/json: the node does not serve application\/x-bcs/)
    node.faults.push((_, response) => sendError(response, 404, 'x'))
    await expect(read()).rejects.toThrow(/is no API of a node/)
  })

  it('says that it has pruned what is wanted', async () => {
    node.oldest = 20
    await expect(read({}, { version: 5n })).rejects.toThrow(/the node has pruned version 5; take it from a backup/)
    expect((await read({}, { version: 20n })).versions[0]?.version).toBe(20n)
  })

  it.each([
    ['a transaction', 40, /version 1: no TransactionInfo has the hash/],
    ['the vector', 0, /version/],
  ])('stops at a flipped bit in %s', async (_, byte, message) => {
    const page = Buffer.from(restPage(chain, 1, 50))
    page[byte]! ^= 4
    const pass = (response: { setHeader(name: string, value: string): void; end(body: string): void }) => {
      response.end(JSON.stringify({ chain_id: SYNTHETIC_CHAIN_ID, ledger_version: String(LAST) }))
    }
    node.faults.push(
      (_, response) => pass(response),
      (_, response) => {
        response.setHeader('content-type', 'application/x-bcs')
        response.end(page)
      },
    )
    await expect(read({}, { version: 1n })).rejects.toMatchObject({
      code: expect.stringMatching(/verification_failed|source_failed/),
      message: expect.stringMatching(message),
    })
  })

  it('stops at versions out of order', async () => {
    node.faults.push(
      (_, response) => response.end(JSON.stringify({ chain_id: SYNTHETIC_CHAIN_ID, ledger_version: String(LAST) })),
      (_, response) => {
        response.setHeader('content-type', 'application/x-bcs')
        response.end(restPage(chain, 7, 10))
      },
    )
    await expect(read({}, { version: 5n })).rejects.toThrow(/has version 7 in the place of version 5/)
  })
})

describe('a fork', () => {
  const other = new SyntheticChain({ blocks: 70, seed: 9 })

  it('is met where a version comes back different', async () => {
    const source = await openSource(node.url, { verify: false })
    const reading = async () => {
      for await (const record of source.versions()) if (record.version === 50n) node.chain = other
    }
    // The second page was asked for ahead: it or the third is the first of the other ledger.
    node.latest = Math.min(LAST, Number(other.latestVersion))
    await expect(reading()).rejects.toMatchObject({
      code: 'ledger_fork',
      message: expect.stringMatching(/version (99|198) is not of the ledger/),
    })
    await source.close()
  })

  it('is met where the accumulator of the ledger read before does not go on', async () => {
    const { marks } = await read()
    node.chain = other
    node.latest = Number(other.latestVersion)
    await expect(read({}, { version: 20n, mark: marks[20] })).rejects.toMatchObject({
      code: 'ledger_fork',
      fields: { version: 21n },
    })
    await expect(read({ verify: false }, { version: 20n, mark: marks[20] })).resolves.toBeDefined()
  })

  it('is another chain at the same address', async () => {
    const source = await openSource(node.url)
    node.faults.push((_, response) => {
      response.setHeader('x-svc-chain-id', 7)
      response.setHeader('content-type', 'application/x-bcs')
      response.end(Buffer.of(0))
    })
    await expect(source.versions()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'chain_id_mismatch',
    })
    await source.close()
  })
})
