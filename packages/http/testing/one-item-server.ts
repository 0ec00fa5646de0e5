import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { tableItemKey } from '@ledger-state/type-tag'
import { createHttpServer, type HttpServerOptions } from '../src/server/create-http-server.ts'

/** An engine with 7 under the key 1 of table 0x7. */
export async function createOneItemEngine() {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const key = tableItemKey(parseAddress('0x7'), Uint8Array.of(1))
  await engine.commit([{ version: 0n, block, writes: [[key, Uint8Array.of(7)]] }], { chainId: 4n })
  return engine
}

export interface RunningServer {
  readonly server: Server
  readonly port: number
}

/** Starts a server. It does not refuse requests because the machine is busy, unless the options say so. */
export async function startServerOver(
  state: StateReader,
  options: Partial<HttpServerOptions> = {},
): Promise<RunningServer> {
  const ledger = createLedger(state)
  const server = createHttpServer({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY, ...options })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

export async function stopServer({ server }: RunningServer): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

export const RAW_ITEM_BODY = '{"key":"0x01"}'

/** A request for the item with one or several further headers, which frame its body. */
export function rawItemRequest(framing: string, body: string): string {
  return `POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${framing}\r\n\r\n${body}`
}

export const WHOLE_ITEM_REQUEST = rawItemRequest(`content-length: ${RAW_ITEM_BODY.length}`, RAW_ITEM_BODY)
export const BALANCE_REQUEST = 'GET /v1/accounts/0x1/balance/0xa HTTP/1.1\r\nhost: x\r\n\r\n'
