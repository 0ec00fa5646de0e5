import { once } from 'node:events'
import { eventually } from '@ledger-state/testing/eventually'
import { openRawConnection, type RawConnection } from '@ledger-state/testing/raw-connection'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  BALANCE_REQUEST,
  createOneItemEngine,
  RAW_ITEM_BODY,
  type RunningServer,
  rawItemRequest,
  startServerOver,
  stopServer,
  WHOLE_ITEM_REQUEST,
} from '../../testing/one-item-server.ts'
import type { HttpServerOptions } from '../server/create-http-server.js'
import { ChunkCollector } from './chunk-collector.js'
import { Refusal } from './refusal.js'
import { Upload, Uploads } from './uploads.js'

let running: RunningServer | undefined
const connections: RawConnection[] = []
afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy()
  if (running) await stopServer(running)
  running = undefined
})

async function start(options: Partial<HttpServerOptions>): Promise<void> {
  running = await startServerOver(await createOneItemEngine(), options)
}

function open(bytes: string): RawConnection {
  const connection = openRawConnection(running!.port)
  connections.push(connection)
  connection.socket.write(bytes)
  return connection
}

/** Resolves when the server has received the headers and a part of the body. */
async function beginUpload(bytes: number): Promise<RawConnection> {
  const received = new Promise<void>((resolve) => {
    running!.server.once('request', (request) => request.once('data', () => resolve()))
  })
  const upload = open(rawItemRequest('content-length: 1000', ' '.repeat(bytes)))
  await received
  return upload
}

async function statusesOf({ statuses }: RawConnection, count: number): Promise<number[]> {
  await eventually(
    () => statuses().length >= count,
    () => `${count} answers, have ${statuses()}`,
  )
  return statuses()
}

const HEALTH_REQUEST = 'GET /v1/-/healthy HTTP/1.1\r\nhost: x\r\n\r\n'

async function expectOthersServed(): Promise<void> {
  const others = open(BALANCE_REQUEST + HEALTH_REQUEST + WHOLE_ITEM_REQUEST)
  expect(await statusesOf(others, 3)).toEqual([200, 200, 200])
}

describe('bodies that come slowly', () => {
  it('are not requests in flight: others are answered, however many there are', async () => {
    await start({ maxRequestsInFlight: 2 })
    for (let count = 0; count < 20; count++) await beginUpload(10)
    await expectOthersServed()
  })

  it('beyond the limit end the one that has been coming in for longest, with 503', async () => {
    await start({ maxUploads: 3 })
    const uploads = []
    for (let count = 0; count < 5; count++) uploads.push(await beginUpload(10))
    for (const ended of uploads.slice(0, 2)) {
      await ended.closed
      expect(ended.statuses()).toEqual([503])
      expect(ended.received()).toContain('retry-after')
    }
    await expectOthersServed()
    // A small body that comes whole takes no place.
    expect(uploads.slice(2).map(({ statuses }) => statuses())).toEqual([[], [], []])
  })

  it('that hold more than the limit together end the largest', async () => {
    await start({ maxUploadBytes: 2_000, bodyLimitBytes: 1_000 })
    const small = await beginUpload(500)
    const large = await beginUpload(900)
    await beginUpload(800)
    await large.closed
    expect(large.statuses()).toEqual([503])
    expect(small.statuses()).toEqual([])
    await expectOthersServed()
  })

  it('give their places back when they end, however they end', async () => {
    await start({ maxUploads: 2, maxUploadBytes: 2_000, bodyLimitBytes: 1_000 })
    for (let round = 0; round < 20; round++) {
      const upload = await beginUpload(900)
      if (round % 2) upload.socket.destroy()
      else upload.socket.write('x'.repeat(100))
    }
    const last = [await beginUpload(900), await beginUpload(900)]
    await expectOthersServed()
    for (const { socket } of last) socket.write(' '.repeat(100))
    expect(await statusesOf(last[1]!, 1)).toEqual([400])
  })
})

describe('a small body', () => {
  it.each([
    ['with its headers', 0],
    ['after its headers', RAW_ITEM_BODY.length],
    ['in two pieces', 5],
  ])('that comes %s is read whole, and the connection continues', async (_, late) => {
    await start({})
    const received = once(running!.server, 'request')
    const cut = WHOLE_ITEM_REQUEST.length - late
    const client = open(WHOLE_ITEM_REQUEST.slice(0, cut))
    await received
    client.socket.write(`${WHOLE_ITEM_REQUEST.slice(cut)}${BALANCE_REQUEST}`)
    expect(await statusesOf(client, 2)).toEqual([200, 200])
    client.socket.write(WHOLE_ITEM_REQUEST)
    expect(await statusesOf(client, 3)).toEqual([200, 200, 200])
  })

  it('is answered in its turn among others in the same packet', async () => {
    await start({})
    const wrong = rawItemRequest('content-length: 2', '{}')
    const unknown = rawItemRequest('content-length: 14', '{"key":"0x02"}')
    const client = open(`${wrong}${WHOLE_ITEM_REQUEST}${BALANCE_REQUEST}${unknown}${wrong}${BALANCE_REQUEST}`)
    expect(await statusesOf(client, 6)).toEqual([400, 200, 200, 404, 400, 200])
  })

  it('ends the largest that is being received, or is refused if none is, while all together hold too much', () => {
    const uploads = new Uploads({ maxUploads: 2, maxUploadBytes: 10 })
    const refusals: string[] = []
    const receiving = new Upload()
    receiving.refuse = () => refusals.push('receiving')
    uploads.begin(receiving)
    uploads.hold(receiving, 8)
    const [first, second] = [new Upload(), new Upload()]
    uploads.take(first, Buffer.alloc(6))
    expect(refusals).toEqual(['receiving'])
    expect(() => uploads.take(second, Buffer.alloc(6))).toThrow(Refusal)
    expect(second.body).toBe(undefined)
    uploads.release(first)
    uploads.take(second, Buffer.alloc(6))
    expect(second.body).toEqual(Buffer.alloc(6))
  })
})

describe('a client that waits for `100 Continue`', () => {
  const expecting = (length: number) => rawItemRequest(`content-length: ${length}\r\nexpect: 100-continue`, '')

  it('gets 100 Continue for a body that is accepted', async () => {
    await start({})
    const client = open(expecting(RAW_ITEM_BODY.length))
    expect(await statusesOf(client, 1)).toEqual([100])
    client.socket.write(RAW_ITEM_BODY)
    expect(await statusesOf(client, 2)).toEqual([100, 200])
  })

  it('is refused before it sends one that is not', async () => {
    await start({ bodyLimitBytes: 1_000 })
    expect(await statusesOf(open(expecting(1_001)), 1)).toEqual([413])
  })
})

describe('bytes that a client keeps sending', () => {
  it('in chunks of a byte each is refused', async () => {
    await start({})
    const crumbs = open(rawItemRequest('transfer-encoding: chunked', '1\r\n \r\n'.repeat(100_000)))
    await crumbs.closed
    expect(crumbs.statuses()).toEqual([400])
    expect(crumbs.received()).toContain('chunks of a few bytes')
    await expectOthersServed()
  })

  it.each([
    ['POST', '/nowhere', 404],
    ['GET', '/v1', 200],
    ['PUT', '/v1', 405],
  ])(
    'in the body of a request that was answered is read over, and the connection continues: %s %s',
    async (method, path, status) => {
      await start({})
      const length = 4_000_000
      const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`
      const sender = open(`${head}${' '.repeat(length)}${WHOLE_ITEM_REQUEST}`)
      expect(await statusesOf(sender, 2)).toEqual([status, 200])
    },
  )

  it('above the limit of a body is read over, too', async () => {
    await start({ bodyLimitBytes: 1_000_000 })
    const length = 3_000_000
    const declared = open(`${rawItemRequest(`content-length: ${length}`, ' '.repeat(length))}${WHOLE_ITEM_REQUEST}`)
    expect(await statusesOf(declared, 2)).toEqual([413, 200])
    const chunk = `${length.toString(16)}\r\n${' '.repeat(length)}\r\n0\r\n\r\n`
    const chunked = open(`${rawItemRequest('transfer-encoding: chunked', chunk)}${WHOLE_ITEM_REQUEST}`)
    expect(await statusesOf(chunked, 2)).toEqual([413, 200])
  })
})

describe('the memory of a body', () => {
  it('ends at the largest limit of any operation: several bodies above the limit are read together, and are too long', async () => {
    const length = 4_600_000
    await start({ maxUploadBytes: 10_000_000, bodyLimitBytes: 5_000_000 })
    const uploads = Array.from({ length: 3 }, () =>
      open(rawItemRequest(`content-length: ${length}`, 'x'.repeat(length))),
    )
    for (const upload of uploads) {
      expect(await statusesOf(upload, 1)).toEqual([413])
      expect(upload.received()).toContain('the limit is 262144 bytes of JSON')
    }
  })

  it('is at most twice its length, whatever its pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
        const collector = new ChunkCollector()
        for (const piece of pieces) {
          collector.add(Buffer.from(piece))
          expect(collector.heldBytes).toBeLessThanOrEqual(2 * collector.length)
        }
        const { bytes } = collector
        expect(bytes.equals(Buffer.concat(pieces))).toBe(true)
        expect(collector.take()).toEqual(bytes)
        expect([collector.length, collector.heldBytes]).toEqual([0, 0])
      }),
    )
  })
})
