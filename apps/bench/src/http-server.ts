// A server under test, in a process of its own: ours over a store, or one that answers a constant with the same headers.
// Told which by its arguments; says its port, and its CPU time when asked.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { writeModule } from '@ledger-state/move-module'
import { createReaderMetrics } from '@ledger-state/node/reader-metrics'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { moduleKey, parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { fastify } from 'fastify'

const [kind, folder, constantJson] = process.argv.slice(2) as [string, string, string]

function address(last: number): Uint8Array {
  const bytes = new Uint8Array(32)
  bytes[31] = last
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/** 20,000 accounts with a coin store, a table of as many structs, and the module of those. */
async function writeStore() {
  const engine = openStateEngine({ path: folder })
  const module = writeModule({
    version: 6,
    address: address(0xca),
    name: 'm',
    structs: [
      {
        kind: 'struct',
        name: 'S',
        abilities: 7,
        typeParameters: [],
        fields: [
          { name: 'amount', type: { kind: 'u64' } },
          { name: 'owner', type: { kind: 'address' } },
          { name: 'open', type: { kind: 'bool' } },
        ],
      },
    ],
  })
  const coinStore = parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>')
  const account = (at: number) => Buffer.concat([Buffer.alloc(28, 0x5a), Buffer.from(Uint32Array.of(at).buffer)])
  const writes = [[moduleKey(address(0xca), 'm'), module] as const]
  for (let at = 0; at < 20_000; at++) {
    writes.push([resourceKey(account(at), coinStore), Buffer.concat([u64(at * 1_000_003), Buffer.alloc(97)])])
    writes.push([tableItemKey(address(7), u64(at)), Buffer.concat([u64(at * 7), account(at), Buffer.of(1)])])
  }
  await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes }], { chainId: 4 })
  await engine.close()
}

/** As `ledger-state serve` does it: a reader of what another process wrote, which verifies what it reads, with its metrics. */
async function openOurs() {
  const engine = openStateEngineReader({ path: folder, verifyReads: true })
  const metrics = createReaderMetrics(engine, 'bench', () => 0)
  const server = createHttpServer({
    ledger: createLedger(metrics.sampled(engine)),
    onAnswered: metrics.observeAnswer,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** Headers and body that ours sends, taken from an answer of it. */
const constant = constantJson
  ? (JSON.parse(constantJson) as { headers: Record<string, string>; body: string })
  : { headers: {}, body: '' }

async function openFastify() {
  const app = fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.all('/*', (_request, reply) => reply.headers(constant.headers).send(constant.body))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

async function openBare() {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, { ...constant.headers, 'content-length': Buffer.byteLength(constant.body) })
      response.end(constant.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

if (kind === 'write') {
  await writeStore()
  process.exit()
}
const server = await (kind === 'ours' ? openOurs() : kind === 'fastify' ? openFastify() : openBare())
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ cpuMicroseconds: user + system })
})
process.on('disconnect', () => process.exit())
process.send!({ port: (server.address() as AddressInfo).port })
