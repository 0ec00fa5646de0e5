import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { MakeRequest } from './http-load.js'

const SERVER = fileURLToPath(new URL('./http-server.js', import.meta.url))
export const CONNECTIONS = 32
/** Accounts and table items of the store that is served. */
export const HTTP_KEYS = 20_000
const BATCH = 100

export interface Server {
  readonly name: string
  readonly child: ChildProcess
  readonly port: number
}

export interface Case {
  readonly name: string
  readonly makeRequest: MakeRequest
}

function hexAccount(at: number): string {
  return '5a'.repeat(28) + Buffer.from(Uint32Array.of(at).buffer).toString('hex')
}

function post(path: string, body: string): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}

/** Requests are made once, so that the load generator does little more than write them. */
function cycle(count: number, make: (at: number) => Buffer): MakeRequest {
  const requests = Array.from({ length: count }, (_, at) => make(at))
  return (at) => requests[at % count]!
}

const item = (key: number) => `{"key_type":"u64","value_type":"0xca::m::S","key":"${key}"}`
export const HTTP_CASES: readonly Case[] = [
  {
    name: 'GET balance',
    makeRequest: cycle(4_096, (at) =>
      Buffer.from(
        `GET /v1/accounts/${hexAccount((at * 7919) % HTTP_KEYS)}/balance/0x1::aptos_coin::AptosCoin HTTP/1.1\r\nhost: bench\r\n\r\n`,
      ),
    ),
  },
  { name: 'POST item', makeRequest: cycle(4_096, (at) => post('/v1/tables/0x7/item', item((at * 7919) % HTTP_KEYS))) },
  {
    name: `POST items:batch, ${BATCH} keys`,
    makeRequest: cycle(64, (at) => {
      const elements = Array.from(
        { length: BATCH },
        (_, place) => `{"table_handle":"0x7",${item((at * BATCH + place * 7919) % HTTP_KEYS).slice(1)}`,
      )
      return post('/v1/tables/items:batch', `{"requests":[${elements.join(',')}]}`)
    }),
  },
]

/** Makes the store that is served. */
export async function writeServedStore(folder: string): Promise<void> {
  const [code] = (await once(fork(SERVER, ['write', folder, '']), 'exit')) as [number]
  if (code !== 0) throw new Error(`writing the store that is served ended with status ${code}`)
}

export async function startServer(kind: string, folder: string, constant: string): Promise<Server> {
  const child = fork(SERVER, [kind, folder, constant])
  // Servers on the last core, the load generator on the others, where the system lets us say so.
  spawnSync('taskset', ['-p', '2', String(child.pid)], { stdio: 'ignore' })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { name: kind, child, port }
}

export async function cpuMicroseconds({ child }: Server): Promise<number> {
  child.send('cpu')
  const [{ cpuMicroseconds: total }] = (await once(child, 'message')) as [{ cpuMicroseconds: number }]
  return total
}

export async function sampleAnswer(
  port: number,
  makeRequest: MakeRequest,
): Promise<{ headers: Record<string, string>; body: string }> {
  const [head, body] = makeRequest(0).toString().split('\r\n\r\n')
  const [method, path] = head!.split(' ') as [string, string]
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body }),
  })
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => name.startsWith('x-') || name === 'content-type'),
  )
  return { headers, body: await answer.text() }
}
