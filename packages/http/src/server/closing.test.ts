import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { eventually, PATIENCE_MS } from '@ledger-state/testing/eventually'
import { openRawConnection, type RawConnection } from '@ledger-state/testing/raw-connection'
import { tableItemKey } from '@ledger-state/type-tag'
import { afterEach, describe, expect, it } from 'vitest'
import { type RunningServer, startServerOver, stopServer, WHOLE_ITEM_REQUEST } from '../../testing/one-item-server.ts'
import { SMALL_REQUEST_BYTES } from '../admission/turn-queue.js'

/** More than the system keeps for a client that does not read. */
const LARGE = Buffer.alloc(12_000_000, 7)
const BLOCK = { height: 0n, epoch: 0n, timestampUsec: 0n }
const VERSION_ONE = { version: 1n, block: { height: 1n, epoch: 0n, timestampUsec: 1n }, writes: [] }

let running: RunningServer | undefined
const clients: RawConnection[] = []
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  if (running?.server.listening) await stopServer(running)
  running = undefined
})

/** A server with a small item under key 1 and a large one under key 2 of table 0x7. It waits without end when it closes. */
async function serve() {
  const engine = createMemoryEngine()
  const key = (byte: number) => tableItemKey(parseAddress('0x7'), Uint8Array.of(byte))
  const writes = [
    [key(1), Uint8Array.of(7)],
    [key(2), LARGE],
  ] as const
  await engine.commit([{ version: 0n, block: BLOCK, writes }], { chainId: 4n })
  running = await startServerOver(engine, { drainTimeoutMs: 2 ** 31 - 1, maxHoldMs: PATIENCE_MS })
  return { engine, server: running.server }
}

interface Client extends RawConnection {
  /** The server's end of the connection. */
  readonly accepted: Socket
  /** Bytes that came. */
  readonly bytes: () => number
  readonly errors: readonly unknown[]
}

/** A client that keeps its connection, and has had one answer. */
async function openKeptClient({ server }: { readonly server: Server }): Promise<Client> {
  const accepting = once(server, 'connection')
  const client = openRawConnection(running!.port)
  clients.push(client)
  const errors: unknown[] = []
  let bytes = 0
  client.socket
    .on('error', (error) => errors.push(error))
    .on('data', (chunk) => {
      bytes += chunk.length
    })
  const [accepted] = (await accepting) as [Socket]
  client.socket.write(WHOLE_ITEM_REQUEST)
  await untilAnswers(client, 1)
  return { ...client, accepted, bytes: () => bytes, errors }
}

function untilAnswers({ statuses }: RawConnection, count: number): Promise<void> {
  return eventually(
    () => statuses().length >= count,
    () => `${count} answers, have ${statuses()}`,
  )
}

/** Sends bytes, and waits until the server has read them. */
async function send({ socket, accepted }: Client, text: string): Promise<void> {
  const before = accepted.bytesRead
  socket.write(text)
  await eventually(
    () => accepted.bytesRead === before + text.length,
    () => `${text.length} bytes to be read`,
  )
}

const rawItem = (body: string, headers = '') =>
  `POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`
const SMALL_REQUEST = rawItem('{"key":"0x01"}')
const LARGE_REQUEST = rawItem('{"key":"0x02"}', 'accept: application/x-bcs\r\n')
const COMPRESSED_REQUEST = rawItem('{"key":"0x02"}', 'accept: application/x-bcs\r\naccept-encoding: gzip\r\n')

/** The last answer on a connection that was closed, which must be whole and say that the connection closes. */
function expectLastAnswer(client: Client, statuses: readonly number[]): void {
  expect(client.statuses()).toEqual(statuses)
  expect(client.errors).toEqual([])
  expect(client.received().split('HTTP/1.1 ').at(-1)).toContain('connection: close')
}

describe('a server that closes answers a request on a kept connection whole', () => {
  it.each([
    ['half of the headers', 40],
    ['the headers', SMALL_REQUEST.indexOf('{')],
    ['half of the body', SMALL_REQUEST.length - 5],
  ])('with %s read', async (_name, cut) => {
    const { server } = await serve()
    const client = await openKeptClient({ server })
    await send(client, SMALL_REQUEST.slice(0, cut))
    const closed = once(server.close(), 'close')
    client.socket.write(SMALL_REQUEST.slice(cut))
    await Promise.all([client.closed, closed])
    expectLastAnswer(client, [200, 200])
  })

  it('that waits for a version', async () => {
    const { server, engine } = await serve()
    const client = await openKeptClient({ server })
    await send(client, rawItem('{"key":"0x01"}', 'x-svc-min-ledger-version: 1\r\n'))
    const closed = once(server.close(), 'close')
    await engine.commit([VERSION_ONE], { chainId: 4n })
    await Promise.all([client.closed, closed])
    expectLastAnswer(client, [200, 200])
  })

  it('that waits for its turn', async () => {
    const { server } = await serve()
    const client = await openKeptClient({ server })
    let closed: Promise<unknown> | undefined
    // A long body waits for a later turn. Its last bytes are handled after this listener, in the same turn.
    server.once('request', (request) => {
      request.prependListener('end', () => {
        closed = once(server.close(), 'close')
      })
    })
    client.socket.write(rawItem(`${' '.repeat(SMALL_REQUEST_BYTES)}{"key":"0x01"}`))
    await client.closed
    await closed
    expectLastAnswer(client, [200, 200])
  })

  it('that it compresses', async () => {
    const { server } = await serve()
    const client = await openKeptClient({ server })
    await send(client, COMPRESSED_REQUEST)
    const closed = once(server.close(), 'close')
    await Promise.all([client.closed, closed])
    expect([client.statuses(), client.errors]).toEqual([[200, 200], []])
    const answer = client.received().split('HTTP/1.1 ').at(-1)!
    const [head] = answer.split('\r\n\r\n') as [string]
    expect(answer.length - head.length - 4).toBe(Number(/content-length: (\d+)/.exec(head)![1]))
  })

  it.each(['once', 'again and again'])(
    'whose answer its client reads slowly, if idle connections are closed %s',
    async (times) => {
      const { server } = await serve()
      const client = await openKeptClient({ server })
      const before = client.bytes()
      client.socket.pause()
      const answered = new Promise<void>((resolve) =>
        server.once('request', (_request, response) => response.once('prefinish', resolve)),
      )
      await send(client, LARGE_REQUEST)
      await answered
      expect(client.accepted.writableLength).toBeGreaterThan(0)
      const closed = once(server.close(), 'close')
      if (times !== 'once') server.closeIdleConnections()
      client.socket.resume()
      await Promise.all([client.closed, closed])
      expect([client.statuses(), client.errors]).toEqual([[200, 200], []])
      expect(client.bytes() - before).toBeGreaterThan(LARGE.length)
    },
  )

  it('and the requests that came behind it, up to an answer that says that the connection closes', async () => {
    const { server, engine } = await serve()
    const client = await openKeptClient({ server })
    await send(client, rawItem('{"key":"0x01"}', 'x-svc-min-ledger-version: 1\r\n') + SMALL_REQUEST.repeat(3))
    const closed = once(server.close(), 'close')
    await engine.commit([VERSION_ONE], { chainId: 4n })
    await Promise.all([client.closed, closed])
    expectLastAnswer(client, [200, 200])
  })
})

it('a server that closes ends a kept connection without a request', async () => {
  const { server } = await serve()
  const client = await openKeptClient({ server })
  const closed = once(server.close(), 'close')
  await Promise.all([client.closed, closed])
  expect([client.statuses(), client.errors]).toEqual([[200], []])
})
