import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '@ledger-state/testing/eventually'
import { openRawConnection } from '@ledger-state/testing/raw-connection'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createOneItemEngine,
  RAW_ITEM_BODY,
  type RunningServer,
  startServerOver,
  stopServer,
} from '../../testing/one-item-server.ts'
import { ignoreUpgrades } from './ignore-upgrades.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServerOver(await createOneItemEngine())
})
afterAll(() => stopServer(running))

const WISHES = [
  '',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'connection: keep-alive, upgrade\r\nupgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
  'UPGRADE: a\r\nX: y\r\nUpgrade: b\r\nConnection: HTTP2-Settings, UPGRADE\r\n',
] as const

/** A request whose answer names it: its number is in the message of the error. */
const numbered = (number: number, wish: string): string =>
  `GET /v1/accounts/0x1/balance/0xa?ledger_version=${number} HTTP/1.1\r\nHost: a\r\n${wish}\r\n`
const item = (wish: string): string =>
  `POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${RAW_ITEM_BODY.length}\r\n${wish}\r\n${RAW_ITEM_BODY}`

/** The versions that whole answers say are not there, and `item` for the item. */
function answersIn(text: string): string[] {
  const answers: string[] = []
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) return answers
    const head = text.slice(at, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    at = end + 4 + length
    if (at > text.length) return answers
    if (!head.startsWith('HTTP/1.1 100'))
      answers.push(/version.*?(\d{1,3})\b/i.exec(text.slice(end, at))?.[1] ?? 'item')
  }
}

async function exchange(port: number, parts: readonly string[], count: number): Promise<string[]> {
  const client = openRawConnection(port)
  for (const part of parts) {
    client.socket.write(part)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await eventually(
    () => answersIn(client.received()).length >= count,
    () => `${count} answers, of ${JSON.stringify(client.received())}`,
  )
  client.socket.destroy()
  return answersIn(client.received())
}

describe('requests that ask for another protocol', () => {
  it('are answered, and those sent after them, each in its turn', async () => {
    for (const wish of WISHES) {
      for (const before of [0, 1, 3]) {
        const requests = [
          ...Array.from({ length: before }, (_, at) => numbered(100 + at, '')),
          numbered(200, wish),
          numbered(201, ''),
          item(wish),
          numbered(202, wish),
          numbered(203, ''),
        ]
        const expected = [
          ...Array.from({ length: before }, (_, at) => String(100 + at)),
          '200',
          '201',
          'item',
          '202',
          '203',
        ]
        expect(await exchange(running.port, [requests.join('')], expected.length)).toEqual(expected)
      }
    }
  })

  it('are told to go on, if they expect that', async () => {
    const wish = 'Expect: 100-continue\r\nConnection: upgrade\r\nUpgrade: foo/2\r\n'
    expect(await exchange(running.port, [item(wish) + numbered(7, '')], 2)).toEqual(['item', '7'])
  })

  it('are answered however the bytes are cut', async () => {
    const sent = fc.record({ wish: fc.constantFrom(...WISHES), isItem: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        fc.array(sent, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(2_000), { maxLength: 6 }),
        async (requests, cuts) => {
          const text = requests.map(({ wish, isItem }, at) => (isItem ? item(wish) : numbered(300 + at, wish))).join('')
          const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
          const parts = places.slice(1).map((end, at) => text.slice(places[at], end))
          const expected = requests.map(({ isItem }, at) => (isItem ? 'item' : String(300 + at)))
          expect(await exchange(running.port, parts, expected.length)).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('close their connection if Node does not give all of their headers', async () => {
    const many = Array.from({ length: 1_100 }, (_, at) => `a${at}: 1\r\n`).join('')
    const client = openRawConnection(running.port)
    client.socket.write(numbered(1, `${many}${WISHES[1]}`))
    await client.closed
    expect([[], [431]]).toContainEqual(client.statuses())
  })

  it('get 400 and the end of their connection if they begin with HTTP/2', async () => {
    const client = openRawConnection(running.port)
    client.socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    await client.closed
    expect(client.statuses()).toEqual([400])
  })

  it('are answered by any server that ignores them', async () => {
    const server: Server = createServer((request, response) => {
      const number = /ledger_version=(\d+)/.exec(request.url!)![1]
      setImmediate(() => response.end(`version ${number}`))
    })
    ignoreUpgrades(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const requests = [1, 2, 3, 4, 5].map((number) => numbered(number, WISHES[number % 2]!))
    expect(await exchange(port, [requests.join('')], 5)).toEqual(['1', '2', '3', '4', '5'])
    server.close()
    server.closeAllConnections()
  })
})
