import { openRawConnection } from '@ledger-state/testing/raw-connection'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOneItemEngine, type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'

const LONG = 'z'.repeat(20_000)

const get = (path: string, header = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}\r\n`
const post = (path: string, body: string, type = 'application/json') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const item = (members: object) =>
  post('/v1/tables/0x7/item', JSON.stringify({ key_type: 'u8', value_type: 'u8', key: 1, ...members }))

let running: RunningServer
beforeAll(async () => {
  running = await startServerOver(await createOneItemEngine())
})
afterAll(() => stopServer(running))

describe('the refusal of 20 KB that make no sense', () => {
  it.each([
    ['as a path', get(`/v1/${LONG}`)],
    ['as an address', get(`/v1/accounts/${LONG}`)],
    ['as an asset', get(`/v1/accounts/0x1/balance/${LONG}`)],
    ['as a type', get(`/v1/accounts/0x1/resource/${LONG}`)],
    ['as a type argument', get(`/v1/accounts/0x1/resource/0x1::a::B%3C${LONG}%3E`)],
    ['as the name of a module', get(`/v1/accounts/0x1/module/${LONG}`)],
    ['as a version', get(`/v1?ledger_version=${LONG}`)],
    ['as a version of a state', get(`/v1/accounts/0x1?ledger_version=${LONG}`)],
    ['as a time', get(`/v1/accounts/0x1?ledger_timestamp=${LONG}`)],
    ['as a limit', get(`/v1/accounts/0x1/resources?limit=${LONG}`)],
    ['as a cursor', get(`/v1/accounts/0x1/resources?start=${LONG}`)],
    ['as an order', get(`/v1/accounts/0x1/balance/0xa/history?order=${LONG}`)],
    ['as a height', get(`/v1/blocks/by_height/${LONG}`)],
    ['as an age', get(`/v1/-/healthy?duration_secs=${LONG}`)],
    ['as an expectation', get('/v1', `expect: ${LONG}\r\n`)],
    ['as a transfer coding', get('/v1', `transfer-encoding: ${LONG}\r\n`)],
    [
      'as a method of a preflight',
      get('/v1', `origin: a\r\naccess-control-request-method: ${LONG}\r\n`).replace('GET', 'OPTIONS'),
    ],
    ['as a content type', post('/v1/tables/0x7/item', '{}', LONG)],
    ['as a content encoding', post('/v1/tables/0x7/item', '{}', `application/json\r\ncontent-encoding: ${LONG}`)],
    ['as a table handle', post(`/v1/tables/${LONG}/item`, '{}')],
    ['as a body', post('/v1/tables/0x7/item', LONG)],
    ['as a body that is a string', post('/v1/tables/0x7/item', `"${LONG}"`)],
    ['as a type of keys', item({ key_type: LONG })],
    ['as a type of values', item({ value_type: LONG })],
    ['as a struct that is nowhere', item({ key_type: `0x1::a::${LONG}` })],
    ['as a key that is not a number', item({ key: LONG })],
    ['as a number', item({ key_type: 'u64', key: '9'.repeat(20_000) })],
    ['as an address in a key', item({ key_type: 'address', key: LONG })],
    ['as bytes', item({ key_type: 'vector<u8>', key: LONG })],
    ['as a serialized key', post('/v1/tables/0x7/raw_item', JSON.stringify({ key: LONG }))],
    ['as reads of a batch', post('/v1/tables/items:batch', JSON.stringify({ requests: LONG }))],
    [
      'in a read of a batch',
      post('/v1/tables/items:batch', JSON.stringify({ requests: [{ table_handle: LONG, raw_key: '0x' }] })),
    ],
    ['as a view function', post('/v1/view', JSON.stringify({ function: LONG, type_arguments: [], arguments: [] }))],
    [
      'as an argument of a view function',
      post('/v1/view', JSON.stringify({ function: '0x1::coin::balance', type_arguments: [LONG], arguments: [LONG] })),
    ],
  ])('quotes little of them: %s', async (_, request) => {
    const { socket, closed, received } = openRawConnection(running.port)
    socket.write(request)
    await closed
    const [head, body] = received().split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 [245]\d\d /)
    expect(body!.length).toBeLessThan(2_500)
    expect(head!.length).toBeLessThan(1_500)
  })
})
