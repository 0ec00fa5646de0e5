import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toFigure } from './figures.js'
import { type MakeRequest, offerLoad, saturate } from './http-load.js'

const SERVER = fileURLToPath(new URL('./http-server.js', import.meta.url))
const CONNECTIONS = 32
const ROUNDS = 15
const ROUND_MS = 600
const KEYS = 20_000
const BATCH = 100

interface Server {
  readonly name: string
  readonly child: ChildProcess
  readonly port: number
}

interface Case {
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
const CASES: readonly Case[] = [
  {
    name: 'GET balance',
    makeRequest: cycle(4_096, (at) =>
      Buffer.from(
        `GET /v1/accounts/${hexAccount((at * 7919) % KEYS)}/balance/0x1::aptos_coin::AptosCoin HTTP/1.1\r\nhost: bench\r\n\r\n`,
      ),
    ),
  },
  { name: 'POST item', makeRequest: cycle(4_096, (at) => post('/v1/tables/0x7/item', item((at * 7919) % KEYS))) },
  {
    name: `POST items:batch, ${BATCH} keys`,
    makeRequest: cycle(64, (at) => {
      const elements = Array.from(
        { length: BATCH },
        (_, place) => `{"table_handle":"0x7",${item((at * BATCH + place * 7919) % KEYS).slice(1)}`,
      )
      return post('/v1/tables/items:batch', `{"requests":[${elements.join(',')}]}`)
    }),
  },
]

/** Served requests in a second of the server's CPU time, and latencies at half of what saturates it; one core each. */
export async function runHttpSuite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-http-'))
  await once(fork(SERVER, ['write', folder, '']), 'exit')
  const ours = await startServer('ours', folder, '')
  try {
    for (const { name, makeRequest } of CASES) {
      const constant = JSON.stringify(await sampleAnswer(ours.port, makeRequest))
      const servers = [
        ours,
        await startServer('fastify', folder, constant),
        await startServer('node:http', folder, constant),
      ]
      await runCase(name, makeRequest, servers)
      for (const { child } of servers.slice(1)) child.disconnect()
    }
  } finally {
    ours.child.disconnect()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runCase(name: string, makeRequest: MakeRequest, servers: readonly Server[]): Promise<void> {
  for (const { port } of servers) await saturate(port, makeRequest, CONNECTIONS, ROUND_MS)
  const rates = servers.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, server] of servers.entries()) {
      const before = await cpuMicroseconds(server)
      const served = await saturate(server.port, makeRequest, CONNECTIONS, ROUND_MS)
      rates[at]!.push((served * 1e6) / ((await cpuMicroseconds(server)) - before))
    }
  }
  const medians = rates.map((samples) => toFigure(samples).median)
  // Within a round, where the machine does the same to both.
  const ratios = rates.map((samples) => toFigure(rates[0]!.map((ours, round) => ours / samples[round]!)).median)
  process.stdout.write(`${name}\n`)
  for (const [at, server] of servers.entries()) {
    // The load generator shares the machine: half of what this pair of processes reaches together.
    const reached = (await saturate(server.port, makeRequest, CONNECTIONS, ROUND_MS)) / (ROUND_MS / 1000)
    const latencies = await offerLoad(server.port, makeRequest, reached / 2, CONNECTIONS, 2_000)
    const percentile = (share: number) => latencies[Math.floor(latencies.length * share)]!.toFixed(2)
    const spread = `${Math.min(...rates[at]!).toFixed(0)}–${Math.max(...rates[at]!).toFixed(0)}`
    const ratio = at === 0 ? '' : `ours reaches ${(ratios[at]! * 100).toFixed(0)} %`
    process.stdout.write(
      `  ${server.name.padEnd(12)}${medians[at]!.toFixed(0).padStart(8)} /CPU s  (${spread})`.padEnd(48) +
        `p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms at ${(reached / 2).toFixed(0)} /s   ${ratio}\n`,
    )
  }
}

async function startServer(kind: string, folder: string, constant: string): Promise<Server> {
  const child = fork(SERVER, [kind, folder, constant])
  // Servers on the last core, the load generator on the others, where the system lets us say so.
  spawnSync('taskset', ['-p', '2', String(child.pid)], { stdio: 'ignore' })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { name: kind, child, port }
}

async function cpuMicroseconds({ child }: Server): Promise<number> {
  child.send('cpu')
  const [{ cpuMicroseconds: total }] = (await once(child, 'message')) as [{ cpuMicroseconds: number }]
  return total
}

async function sampleAnswer(
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
