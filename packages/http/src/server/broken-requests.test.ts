import { eventually } from '@ledger-state/testing/eventually'
import { openRawConnection, type RawConnection } from '@ledger-state/testing/raw-connection'
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
import type { HttpServerOptions } from './create-http-server.js'
import type { AnswerReport } from './request-listener-options.js'

const running: RunningServer[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map(stopServer))
})

async function start(options: Partial<HttpServerOptions> = {}): Promise<RunningServer> {
  const started = await startServerOver(await createOneItemEngine(), options)
  running.push(started)
  return started
}

/** Bytes that come back for bytes sent in one segment, once the server has closed the connection. */
async function exchangeOf(bytes: string, options: Partial<HttpServerOptions> = {}) {
  const { port } = await start(options)
  const { socket, received, statuses, closed } = openRawConnection(port)
  socket.write(bytes)
  await closed
  return { statuses: statuses(), text: received(), body: received().slice(received().lastIndexOf('\r\n\r\n') + 4) }
}

const CHUNKED_ITEM = rawItemRequest('transfer-encoding: chunked', `e\r\n${RAW_ITEM_BODY}\r\n0\r\n\r\n`)
const NOISE = 'noise\r\n\r\n'
const LONG_HEADERS = `GET /v1 HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(40_000)}\r\n\r\n`

describe('a broken request that follows good ones', () => {
  it.each([
    ['a body', WHOLE_ITEM_REQUEST],
    ['a body in chunks', CHUNKED_ITEM],
    ['no body', BALANCE_REQUEST],
    ['bodies and none', WHOLE_ITEM_REQUEST + BALANCE_REQUEST + CHUNKED_ITEM + BALANCE_REQUEST],
  ])('is answered after them, in order: %s', async (_name, good) => {
    const answers = good.split(' HTTP/1.1').length - 1
    const whole = new Array<number>(answers).fill(200)
    expect((await exchangeOf(good + NOISE)).statuses).toEqual([...whole, 400])
    expect((await exchangeOf(good + LONG_HEADERS)).statuses).toEqual([...whole, 431])
  })

  it('is reported as unreadable, while the good ones get their statuses', async () => {
    const told: AnswerReport[] = []
    await exchangeOf(WHOLE_ITEM_REQUEST + NOISE, { onAnswered: (answered) => told.push(answered) })
    expect(told.map(({ route, status }) => [route, status])).toEqual([
      ['/v1/tables/{table_handle}/raw_item', 200],
      ['unreadable', 400],
    ])
  })

  it('is not answered if the fault is in a body whose request was answered already', async () => {
    const head = 'POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
    expect((await exchangeOf(`${head}zz\r\n`)).statuses).toEqual([404])
  })

  it('ends the connection of a client that keeps sending', async () => {
    const { port } = await start()
    const { socket, statuses, closed } = openRawConnection(port)
    socket.write(NOISE)
    const sending = setInterval(() => socket.write('more\r\n'), 20)
    await closed
    clearInterval(sending)
    expect(statuses()).toEqual([400])
  })
})

describe('a fault in a body', () => {
  it('is the answer to its request, after those to earlier ones', async () => {
    const broken = rawItemRequest('transfer-encoding: chunked', 'zz\r\n')
    expect((await exchangeOf(WHOLE_ITEM_REQUEST + broken)).statuses).toEqual([200, 400])
  })
})

describe('a client that leaves in the middle of its body', () => {
  const HALF = RAW_ITEM_BODY.slice(0, 5)
  it.each([
    ['with a length', 'content-length: 14', HALF],
    ['in chunks', 'transfer-encoding: chunked', `e\r\n${HALF}`],
    ['from another origin', 'origin: https://a.example\r\ncontent-length: 14', HALF],
    ['compressed', 'content-encoding: gzip\r\ncontent-length: 14', HALF],
  ])('is reported as 499, and is not a fault of ours: %s', async (_name, framing, half) => {
    for (const leave of ['end', 'resetAndDestroy'] as const) {
      const told: AnswerReport[] = []
      const faults: unknown[] = []
      const { port, server } = await start({
        onAnswered: (answered) => told.push(answered),
        onUnexpectedError: (error) => faults.push(error),
      })
      const requested = new Promise((resolve) => server.once('request', resolve))
      const { socket } = openRawConnection(port)
      socket.write(rawItemRequest(framing, half))
      await requested
      socket[leave]()
      await eventually(
        () => told.length > 0,
        () => `a report of a client that left by ${leave}`,
      )
      expect([told.map(({ status }) => status), faults]).toEqual([[499], []])
    }
  })
})

describe('requests that the protocol forbids', () => {
  it.each([
    ['no Host', 'GET /v1 HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['an expectation', 'GET /v1 HTTP/1.1\r\nhost: x\r\nexpect: foo\r\nconnection: close\r\n\r\n', 417],
    [
      'a coding of its body in addition to chunks',
      rawItemRequest('transfer-encoding: gzip, chunked', '0\r\n\r\n'),
      400,
    ],
    ['HTTP/2.0', 'GET /v1 HTTP/2.0\r\nhost: x\r\nconnection: close\r\n\r\n', 505],
    ['HTTP/0.9', 'GET /v1\r\n\r\n', 505],
    ['noise', NOISE, 400],
    ['headers that are too long', LONG_HEADERS, 431],
  ])('are refused in JSON, with the chain state: %s', async (_name, bytes, status) => {
    const { statuses, text, body } = await exchangeOf(bytes)
    expect(statuses).toEqual([status])
    expect(JSON.parse(body)).toEqual({ message: expect.any(String), error_code: 'web_framework_error' })
    expect(text).toContain('x-svc-ledger-version: 0')
    expect(text).toContain('connection: close')
  })

  it('do not include HTTP/1.0 without a Host', async () => {
    expect((await exchangeOf('GET /v1 HTTP/1.0\r\n\r\n')).statuses).toEqual([200])
  })

  it('include methods that are offered nowhere: 405', async () => {
    const { statuses, text } = await exchangeOf('QUERY /v1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    expect(statuses).toEqual([405])
    expect(text).toContain('allow: GET, HEAD')
  })
})

describe('a method that Node.js does not know', () => {
  const asked = (line: string) => `${line} HTTP/1.1\r\nhost: x\r\n\r\n`

  it.each(['FOO', 'foo', 'get', 'GETX', 'PATCHY', 'PLAY', 'A-B.C'])(
    'is 405 with Allow, as any other: %s',
    async (method) => {
      const { statuses, text, body } = await exchangeOf(asked(`${method} /v1?a=1`))
      expect(statuses).toEqual([405])
      expect(text).toContain('\r\nallow: GET, HEAD\r\n')
      expect(text).toContain('\r\nconnection: close\r\n')
      expect(text).toContain('\r\nx-svc-ledger-version: 0\r\n')
      expect(JSON.parse(body)).toEqual({ message: 'method not allowed', error_code: 'web_framework_error' })
    },
  )

  it('is 404 for a path that nobody has', async () => {
    for (const target of ['/v1/nowhere', '*', 'x:443']) {
      expect((await exchangeOf(asked(`FOO ${target}`))).statuses).toEqual([404])
    }
  })

  it('is answered after earlier requests, and ends the connection', async () => {
    const { statuses } = await exchangeOf(BALANCE_REQUEST + asked('FOO /v1') + BALANCE_REQUEST)
    expect(statuses).toEqual([200, 405])
  })

  it('is unreadable in a line that is no request', async () => {
    for (const line of [
      'FOO',
      'FOO /v1',
      'FOO  /v1 HTTP/1.1',
      'FOO /v1 HTTP/2.0',
      'FOO /v1 x HTTP/1.1',
      '(FOO /v1 HTTP/1.1',
    ])
      expect((await exchangeOf(`${line}\r\n\r\n`)).statuses, line).toEqual([400])
  })
})

describe('a connection on which nothing is sent', () => {
  it('is closed when it has been idle for long, without an unrequested answer', async () => {
    const { text } = await exchangeOf('', { requestTimeoutMs: 100, idleTimeoutMs: 400 })
    expect(text).toBe('')
  })

  it('is distinguished from a request that does not come in whole', async () => {
    expect((await exchangeOf('GET /v1 HTTP/1.1\r\n', { requestTimeoutMs: 100 })).statuses).toEqual([408])
  })
})

describe('requests that do not come in whole, a thousand at a time', () => {
  const REQUESTS = 1_000
  /** Number of answers in one turn, far more than its budget has room for. */
  const MOST_OF_A_TURN = 250
  /** Node.js lets 511 connections wait until it accepts them. Linux drops further ones and resets some of them later. */
  const OPENED_AT_A_TIME = 250

  async function openAll({ server, port }: RunningServer): Promise<RawConnection[]> {
    let accepted = 0
    server.on('connection', () => accepted++)
    const opened: RawConnection[] = []
    while (opened.length < REQUESTS) {
      opened.push(...Array.from({ length: OPENED_AT_A_TIME }, () => openRawConnection(port)))
      await eventually(
        () => accepted === opened.length,
        () => `${opened.length} connections to be accepted; ${accepted} are`,
      )
    }
    return opened
  }

  it.each([
    ['in their headers', 'GET /v1 HTTP/1.1\r\n'],
    ['in their bodies', rawItemRequest('content-length: 20', RAW_ITEM_BODY)],
  ])('are answered in several turns: %s', async (_name, bytes) => {
    const answers = new Map<number, number>()
    let turn = 0
    let isOver = false
    const countTurns = (): void => {
      turn++
      if (!isOver) setImmediate(countTurns)
    }
    countTurns()
    const server = await start({
      requestTimeoutMs: 500,
      onAnswered: () => answers.set(turn, (answers.get(turn) ?? 0) + 1),
    })
    const connections = await openAll(server)
    for (const { socket } of connections) socket.write(bytes)
    await Promise.all(connections.map(({ closed }) => closed))
    isOver = true
    expect(connections.flatMap(({ statuses }) => statuses())).toEqual(new Array(REQUESTS).fill(408))
    expect(Math.max(...answers.values())).toBeLessThan(MOST_OF_A_TURN)
  })
})
