// An endless ledger that is made up as it is asked for. Every right answer can be computed without keeping any: each
// version writes the next few of a ring of table items, and a balance.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { ByteWriter } from '@ledger-state/core'
import { writeModule } from '@ledger-state/move-module'
import type { TestCertificate } from '@ledger-state/testing/certificate'
import { HOSTILE_MODULES } from '@ledger-state/testing/hostile-types'
import type { Random } from '@ledger-state/testing/random'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'

export const STEADY_CHAIN_ID = 77
export const BLOCK_VERSIONS = 5

const HANDLE = Buffer.alloc(32, 0x7a)
export const STEADY_HANDLE = `0x${HANDLE.toString('hex')}`
export const STEADY_COIN = '0x1::aptos_coin::AptosCoin'
const COIN_STORE = parseStructTag(`0x1::coin::CoinStore<${STEADY_COIN}>`)
const FRAMEWORK = Buffer.alloc(32)
FRAMEWORK[31] = 1

const KEYS = 2_000
const WRITES_A_VERSION = 8
const ACCOUNTS = 50
/** Time of the first block. */
const STEADY_START_SECONDS = 1_700_000_000
const START_USEC = BigInt(STEADY_START_SECONDS) * 1_000_000n

/** Spreads numbers over 32 bits. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

function u64(value: bigint | number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/**
 * Value of a write; undefined for a deletion. Writes are numbered through all versions, and each writes or deletes the
 * next key of the ring.
 */
const valueOfWrite = (number: number): bigint | undefined =>
  mix(number) % 7 === 0 ? undefined : BigInt(mix(number + 1)) * 1_000_003n

const balanceAt = (version: number): bigint => BigInt(mix(version + 17))
const accountOf = (version: number): number => version % ACCOUNTS

export interface SteadyQuestion {
  readonly kind: 'item' | 'raw_item' | 'balance'
  /** Index of the key or of the account. */
  readonly index: number
  readonly version: number
}

export function randomQuestion(version: number, random: Random): SteadyQuestion {
  const kind = random.pick(['item', 'raw_item', 'balance'] as const)
  return { kind, index: random.below(kind === 'balance' ? ACCOUNTS : KEYS), version }
}

export function accountAddress(index: number): string {
  return `0x${addressBytes(index).toString('hex')}`
}

function addressBytes(index: number): Buffer {
  return Buffer.concat([Buffer.alloc(24, 0xac), u64(index)])
}

/** The right answer to a question: a value, or undefined for an absent table item. */
export function steadyAnswer({ kind, index, version }: SteadyQuestion): bigint | undefined {
  if (kind === 'balance') {
    const written = version - ((((version - index) % ACCOUNTS) + ACCOUNTS) % ACCOUNTS)
    return written < 0 ? 0n : balanceAt(written)
  }
  const newest = version * WRITES_A_VERSION + WRITES_A_VERSION - 1
  const number = newest - ((((newest - index) % KEYS) + KEYS) % KEYS)
  return number < 0 ? undefined : valueOfWrite(number)
}

/** The request that asks a question. */
export function questionToRequest(address: string, { kind, index, version }: SteadyQuestion): [string, RequestInit] {
  const query = `?ledger_version=${version}`
  if (kind === 'balance') return [`${address}/v1/accounts/${accountAddress(index)}/balance/${STEADY_COIN}${query}`, {}]
  const body =
    kind === 'item'
      ? { key_type: 'u64', value_type: 'u64', key: String(index) }
      : { key: `0x${u64(index).toString('hex')}` }
  return [
    `${address}/v1/tables/${STEADY_HANDLE}/${kind}${query}`,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  ]
}

/** A node's answer to a question, in the form of `steadyAnswer`. */
export function parseAnswer({ kind }: SteadyQuestion, status: number, body: Buffer): bigint | undefined | 'error' {
  if (status === 404 && /table_item_not_found/.test(body.toString('latin1'))) return undefined
  if (status !== 200) return 'error'
  if (kind === 'raw_item') return body.length === 8 ? body.readBigUInt64LE() : 'error'
  const text = /^"?(\d+)"?$/.exec(body.toString('latin1'))?.[1]
  return text === undefined ? 'error' : BigInt(text)
}

const writesOf = (version: number, time: bigint): [bcsKey: Uint8Array, value: Uint8Array | undefined][] => {
  const writes: [Uint8Array, Uint8Array | undefined][] = []
  for (let at = 0; at < WRITES_A_VERSION; at++) {
    const number = version * WRITES_A_VERSION + at
    const value = valueOfWrite(number)
    const item = new ByteWriter()
      .u8(1)
      .bytes(HANDLE)
      .byteString(u64(number % KEYS))
    writes.push([item.toBytes(), value === undefined ? undefined : u64(value)])
  }
  const store = new ByteWriter()
    .u64(balanceAt(version))
    .bool(false)
    .bytes(Buffer.alloc(2 * 48))
    .toBytes()
  writes.push([resourceKey(addressBytes(accountOf(version)), COIN_STORE), store])
  if (version === 0) {
    writes.push([framework('chain_id', 'ChainId'), Uint8Array.of(STEADY_CHAIN_ID)])
    writes.push([framework('reconfiguration', 'Configuration'), Buffer.concat([u64(1), u64(0)])])
    for (const module of HOSTILE_MODULES) writes.push([moduleKey(FRAMEWORK, module.name), writeModule(module)])
  }
  if (startsBlock(version)) {
    writes.push([framework('block', 'BlockResource'), Buffer.concat([u64(heightAt(version)), u64(0), u64(0)])])
    writes.push([framework('timestamp', 'CurrentTimeMicroseconds'), u64(time)])
  }
  return writes
}

const startsBlock = (version: number): boolean => version === 0 || version % BLOCK_VERSIONS === 1
const heightAt = (version: number): number => Math.ceil(version / BLOCK_VERSIONS)
const timeAt = (version: number): bigint => (version === 0 ? 0n : START_USEC + BigInt(heightAt(version)) * 250_000n)

function framework(module: string, name: string): Uint8Array {
  return resourceKey(FRAMEWORK, parseStructTag(`0x1::${module}::${name}`))
}

function writeSetOf(version: number, time: bigint): Uint8Array {
  const writes = writesOf(version, time)
  const writer = new ByteWriter().u8(0).uleb128(writes.length)
  for (const [key, value] of writes) {
    writer.bytes(key)
    if (value) writer.u8(1).byteString(value)
    else writer.u8(2)
  }
  return writer.toBytes()
}

/** A transaction. `fork` is 0, or the number of another ledger with the same writes. */
function transactionOf(version: number, time: bigint, writeSet: Uint8Array, fork: number): Uint8Array {
  if (version === 0) return new ByteWriter().u8(1).u8(0).bytes(writeSet).uleb128(0).toBytes()
  if (!startsBlock(version))
    return new ByteWriter()
      .u8(3)
      .bytes(Buffer.alloc(32, 1 + fork))
      .toBytes()
  const metadata = new ByteWriter()
    .u8(2)
    .bytes(Buffer.alloc(32, 2 + fork))
    .u64(1n)
    .u64(BigInt(heightAt(version)))
  metadata.bytes(Buffer.alloc(32, 3)).byteString(Uint8Array.of(1)).uleb128(0).u64(time)
  return metadata.toBytes()
}

const HASH_PREFIX = createHash('sha3-256').update('APTOS::Transaction').digest()

function transactionHash(transaction: Uint8Array): Uint8Array {
  return createHash('sha3-256').update(HASH_PREFIX).update(transaction).digest()
}

function pageOf(first: number, count: number, { fork, hourBackFrom }: SteadyNode): Uint8Array {
  const writer = new ByteWriter().uleb128(count)
  for (let version = first; version < first + count; version++) {
    const time = timeAt(version) - (version >= hourBackFrom ? HOUR_USEC : 0n)
    const writeSet = writeSetOf(version, time)
    const transaction = transactionOf(version, time, writeSet, fork)
    writer.u64(BigInt(version)).bytes(transaction)
    // Layout of the info: V0, gas, success, hashes (only the first is right), and neither a state root nor an auxiliary
    // hash.
    writer.u8(0).u64(1n).u8(0).bytes(transactionHash(transaction)).bytes(Buffer.alloc(64)).bool(false).bool(false)
    writer.uleb128(0).bytes(Buffer.alloc(32)).bytes(writeSet)
  }
  return writer.toBytes()
}

const HOUR_USEC = 3_600_000_000n
const MOST_ON_A_PAGE = 100

export type SourceFault = (response: ServerResponse, page: Buffer) => void

/** Ways to break a page. */
export const SOURCE_FAULTS: Readonly<Record<string, SourceFault>> = {
  'a page that is cut short': (response, page) => sendPage(response, page.subarray(0, page.length >> 1)),
  'a page of other bytes': (response, page) => sendPage(response, Buffer.from(page.map((byte) => byte ^ 0x55))),
  'a page of HTML': (response) => response.setHeader('content-type', 'text/html').end('<html>maintenance'),
  'a page that breaks off': (response, page) => {
    response.setHeader('content-length', page.length)
    response.write(page.subarray(0, page.length >> 1))
    setImmediate(() => response.destroy())
  },
}

export interface SteadyNode {
  readonly url: string
  /** Newest version that the node reports. */
  latest: number
  /** While true, requests are accepted and not answered. */
  isStalled: boolean
  /** Number of a ledger with the same writes; 0 for the original. */
  fork: number
  /** Since this version the time of the ledger is an hour earlier. */
  hourBackFrom: number
  chainId: number
  /** Handlers that answer the next requests for a page instead of the node, one each. */
  readonly faults: SourceFault[]
  /** Handlers that answer the next requests for the index instead of the node, one each. */
  readonly indexFaults: ((response: ServerResponse) => void)[]
  /** Authorization that the node demands; other requests are answered 401. */
  authorization: string | undefined
  close(): Promise<void>
}

/**
 * Starts a node with this ledger, which grows as `latest` is raised. Its proofs are not valid: followers need
 * `--no-verify`.
 * @param tls serves HTTPS with this certificate, in PEM
 */
export async function startSteadyNode(port = 0, tls?: TestCertificate): Promise<SteadyNode> {
  const onRequest: RequestListener = (request, response) => {
    if (isStalled) held.push(() => handle(request, response))
    else handle(request, response)
  }
  const server: Server = tls ? createTlsServer({ ...tls }, onRequest) : createServer(onRequest)
  let isStalled = false
  const held: (() => void)[] = []
  const handle: RequestListener = (request, response) => {
    if (node.authorization !== undefined && request.headers.authorization !== node.authorization) {
      response.writeHead(401).end()
    } else answer(new URL(request.url!, node.url), response)
  }
  /** All sockets, including sockets in a TLS handshake: `closeAllConnections` leaves those open. */
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const node: SteadyNode = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    latest: 0,
    get isStalled() {
      return isStalled
    },
    set isStalled(value) {
      isStalled = value
      if (!isStalled) for (const answerLate of held.splice(0)) answerLate()
    },
    fork: 0,
    hourBackFrom: Number.POSITIVE_INFINITY,
    chainId: STEADY_CHAIN_ID,
    faults: [],
    indexFaults: [],
    authorization: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return node

  function answer(url: URL, response: ServerResponse): void {
    response.setHeader('x-aptos-chain-id', node.chainId)
    response.setHeader('x-aptos-ledger-version', node.latest)
    if (url.pathname === '/v1') {
      response.setHeader('content-type', 'application/json')
      const fault = node.indexFaults.shift()
      if (fault) fault(response)
      else response.end(JSON.stringify({ chain_id: node.chainId, ledger_version: String(node.latest) }))
      return
    }
    const start = Number(url.searchParams.get('start'))
    const limit = Number(url.searchParams.get('limit') ?? MOST_ON_A_PAGE)
    const count = Math.min(MOST_ON_A_PAGE, limit, node.latest - start + 1)
    if (count <= 0) {
      response.statusCode = 404
      response.setHeader('content-type', 'application/json')
      response.end('{"message":"not there yet","error_code":"version_not_found"}')
      return
    }
    const page = Buffer.from(pageOf(start, count, node))
    const fault = node.faults.shift() ?? sendPage
    fault(response, page)
  }
}

function sendPage(response: ServerResponse, page: Buffer): void {
  response.setHeader('content-type', 'application/x-bcs')
  response.end(page)
}
