import type { MakeRequest } from './load.ts'
import { accountHex, ITEM_TABLE, ITEM_TYPE, SERVED_KEYS } from './served-store.ts'

const BATCH_KEYS = 100
/** Step that spreads consecutive numbers over the keys. */
const STRIDE = 7_919

export interface RequestCase {
  readonly name: string
  readonly makeRequest: MakeRequest
}

/** Makes requests in advance, so that the load generator does little more than write them. */
function cycle(count: number, make: (at: number) => Buffer): MakeRequest {
  const requests = Array.from({ length: count }, (_, at) => make(at))
  return (at) => requests[at % count]!
}

function get(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`)
}

function post(path: string, body: string): Buffer {
  const headers = `host: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
}

const keyAt = (at: number): number => (at * STRIDE) % SERVED_KEYS
const item = (key: number): string => `"key_type":"u64","value_type":"${ITEM_TYPE}","key":"${key}"`

function batchBody(first: number): string {
  const elements = Array.from(
    { length: BATCH_KEYS },
    (_, at) => `{"table_handle":"${ITEM_TABLE}",${item(keyAt(first + at))}}`,
  )
  return `{"requests":[${elements.join(',')}]}`
}

export const GET_BALANCE: RequestCase = {
  name: 'GET balance',
  makeRequest: cycle(4_096, (at) => get(`/v1/accounts/${accountHex(keyAt(at))}/balance/0x1::aptos_coin::AptosCoin`)),
}

export const POST_ITEM: RequestCase = {
  name: 'POST item',
  makeRequest: cycle(4_096, (at) => post(`/v1/tables/${ITEM_TABLE}/item`, `{${item(keyAt(at))}}`)),
}

export const POST_BATCH: RequestCase = {
  name: `POST items:batch, ${BATCH_KEYS} keys`,
  makeRequest: cycle(64, (at) => post('/v1/tables/items:batch', batchBody(at * BATCH_KEYS))),
}
