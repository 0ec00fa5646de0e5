import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ByteWriter, bytesToHex, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createHttpServer } from './create-http-server.js'
import { createRequestListener } from './create-request-listener.js'

const TABLES = 6
const ITEMS = 40
const ITEM_BYTES = 20_000

/** Tables of items with bytes that differ from table to table; a page of one is 1.6 MB of JSON. */
async function ledgerOfLargePages() {
  const engine = createMemoryEngine()
  const writes = Array.from({ length: TABLES * ITEMS }, (_, at): [Uint8Array, Uint8Array] => {
    const value = new ByteWriter().byteString(Buffer.alloc(ITEM_BYTES, `${at}-`)).toBytes()
    return [tableItemKey(parseAddress(`0x${1 + Math.floor(at / ITEMS)}`), Buffer.of(at % ITEMS)), value]
  })
  await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes }], { chainId: 4 })
  return createLedger(engine)
}

const pathOf = (table: number): string => `/v1/tables/0x${1 + table}/items?key_type=u8&value_type=vector<u8>&limit=1000`

/** The values of a page, from its JSON. */
function valuesOf(json: Buffer): readonly string[] {
  const { items } = JSON.parse(json.toString()) as { items: { value: string }[] }
  return items.map(({ value }) => value)
}

const expected = (table: number): readonly string[] =>
  Array.from({ length: ITEMS }, (_, at) => bytesToHex(Buffer.alloc(ITEM_BYTES, `${table * ITEMS + at}-`)))

const DECODERS = { identity: (body: Buffer) => body, gzip: gunzipSync, br: brotliDecompressSync } as const

it('long answers are whole, in each encoding, over a socket and without one, while other clients leave in the middle', async () => {
  const ledger = await ledgerOfLargePages()
  const server = createHttpServer({ ledger })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const open = async (table: number, encoding: string): Promise<IncomingMessage> => {
    const path = encodeURI(pathOf(table))
    const request = httpGet({ port, path, headers: { 'accept-encoding': encoding, connection: 'close' } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
  const whole = async (table: number, encoding: keyof typeof DECODERS): Promise<void> => {
    const response = await open(table, encoding)
    const body = await buffer(response)
    expect([response.statusCode, body.length]).toEqual([200, Number(response.headers['content-length'])])
    expect(valuesOf(DECODERS[encoding](body))).toEqual(expected(table))
  }
  const left = async (table: number): Promise<void> => {
    const response = await open(table, 'identity')
    await once(response, 'data')
    response.destroy()
  }
  for (let round = 0; round < 3; round++) {
    const requests = Array.from({ length: TABLES }, (_, table) => [
      whole(table, 'identity'),
      left((table + 1) % TABLES),
      whole((table + 2) % TABLES, 'gzip'),
      whole((table + 3) % TABLES, 'br'),
      left((table + 4) % TABLES),
    ])
    await Promise.all(requests.flat())
  }
  server.close()
  const { statusCode, rawPayload } = await inject(createRequestListener({ ledger }), encodeURI(pathOf(0)))
  expect([statusCode, valuesOf(rawPayload)]).toEqual([200, expected(0)])
})
