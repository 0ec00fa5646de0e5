import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { writeModule } from '@ledger-state/move-module'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { moduleKey, parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { createHttpServer } from './create-http-server.js'

// A model of the service that is as simple as possible: regular expressions and lists instead of parsers and indexes.
// It computes the right answer to a request; a hundred thousand generated requests are compared with it.

const LATEST = 60
const OLDEST = 20
const APT = '0x1::aptos_coin::AptosCoin'
const ACCOUNT = 'a11ce'

const hexOf = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('hex')
const addressHex = (short: string) => short.padStart(64, '0')

function littleEndian(value: bigint, bytes: number): string {
  return Array.from({ length: bytes }, (_, at) =>
    ((value >> BigInt(8 * at)) & 255n).toString(16).padStart(2, '0'),
  ).join('')
}

function fromLittleEndian(hex: string): bigint {
  return BigInt(`0x${(hex.match(/../g) ?? []).reverse().join('')}`)
}

const STRING = '0x1::string::String'
const WIDTH: Record<string, number> = { u8: 1, u16: 2, u32: 4, u64: 8, u128: 16, u256: 32 }

/**
 * Canonical name of a type that the model knows; undefined for text that is not a type; null for types it cannot
 * resolve.
 */
function modelType(text: string): string | null | undefined {
  const bare = text.replace(/[ \t\n\r\f]/g, '')
  if (/^(bool|address|signer|u8|u16|u32|u64|u128|u256)$/.test(bare) && bare === text.trim())
    return bare === 'signer' ? null : bare
  if (/^vector<u8>$/.test(bare)) return 'vector<u8>'
  if (/^0[xX]0*1::string::String(::)?(<>)?$/.test(bare) && !bare.endsWith('::')) return STRING
  if (/^0[xX][0-9a-fA-F]{1,64}::[a-z]+::[A-Z][A-Za-z]*$/.test(bare)) return null
  return undefined
}

/** BCS of a key as hex; undefined if it does not fit. */
function modelEncode(type: string, json: string): string | undefined {
  if (type === 'bool') return json === 'true' ? '01' : json === 'false' ? '00' : undefined
  if (type in WIDTH) {
    const width = WIDTH[type]!
    const text = width >= 8 && /^"[+]?[0-9]+"$/.test(json) ? json.slice(1, -1).replace('+', '') : json
    if (!/^[0-9]+$/.test(text)) return undefined
    return BigInt(text) < 1n << BigInt(width * 8) ? littleEndian(BigInt(text), width) : undefined
  }
  if (!/^".*"$/.test(json)) return undefined
  const text = JSON.parse(json) as string
  if (type === 'address')
    return /^(0x)?[0-9a-fA-F]{1,64}$/.test(text) ? addressHex(text.replace('0x', '').toLowerCase()) : undefined
  if (type === 'vector<u8>') {
    const digits = text.replace(/^0x/, '')
    return /^([0-9a-fA-F]{2}){0,60}$/.test(digits)
      ? (digits.length / 2).toString(16).padStart(2, '0') + digits.toLowerCase()
      : undefined
  }
  return Buffer.byteLength(text).toString(16).padStart(2, '0') + hexOf(text)
}

/** JSON of a stored value; undefined if the bytes do not fit the type. */
function modelDecode(type: string, hex: string): string | undefined {
  if (type === 'bool') return hex === '01' ? 'true' : hex === '00' ? 'false' : undefined
  if (type in WIDTH) {
    const width = WIDTH[type]!
    if (hex.length !== width * 2) return undefined
    return width >= 8 ? `"${fromLittleEndian(hex)}"` : String(fromLittleEndian(hex))
  }
  if (type === 'address') return hex.length === 64 ? `"0x${hex.replace(/^0{1,63}/, '')}"` : undefined
  const length = Number.parseInt(hex.slice(0, 2), 16)
  if (!(length < 128) || hex.length !== 2 + length * 2) return undefined
  if (type === 'vector<u8>') return `"0x${hex.slice(2)}"`
  const text = Buffer.from(hex.slice(2), 'hex').toString('utf8')
  return hexOf(text) === hex.slice(2) ? JSON.stringify(text) : `"Unparsable utf-8 0x${hex.slice(2)}"`
}

interface Item {
  readonly handle: string
  readonly key: string
  readonly from: number
  readonly value: string | null
}

interface Balance {
  readonly from: number
  readonly value: bigint
}

/** Data with which the store was filled. */
interface Written {
  readonly items: Item[]
  readonly balances: Balance[]
}

interface Expected {
  readonly status: number
  readonly code?: string
  /** Body in hex. */
  readonly body?: string
}

const webError = (status: number): Expected => ({ status, code: 'web_framework_error' })
const badInput: Expected = { status: 400, code: 'invalid_input' }

function modelVersion(query: string): number | 'bad' {
  const first = query.split('&').find((pair) => pair.split('=')[0] === 'ledger_version')
  if (first === undefined) return LATEST
  const text = first.slice('ledger_version='.length)
  if (!/^(%2B)?[0-9]+$/.test(text) || BigInt(text.replace('%2B', '')) >= 1n << 64n) return 'bad'
  return Number(text.replace('%2B', ''))
}

function modelState(version: number): Expected | undefined {
  if (version > LATEST) return { status: 404, code: 'version_not_found' }
  return version < OLDEST ? { status: 410, code: 'version_pruned' } : undefined
}

/** A request for a table item. */
interface TableRequest {
  readonly method: string
  readonly handle: string
  readonly tail: string
  readonly query: string
  readonly contentType: string | undefined
  readonly accept: string | undefined
  readonly keyType: string
  readonly valueType: string
  readonly key: string
  /** Part of the body that is sent. */
  readonly bodyShare: number
}

function bodyOf({ keyType, valueType, key, tail, bodyShare }: TableRequest): string {
  const whole =
    tail === 'item'
      ? `{"key_type":${JSON.stringify(keyType)},"value_type":${JSON.stringify(valueType)},"key":${key}}`
      : `{"key":${key}}`
  return whole.slice(0, Math.ceil(whole.length * bodyShare))
}

function modelTable(request: TableRequest, items: readonly Item[]): Expected {
  const { method, handle, tail, query, contentType, keyType, valueType, key, accept } = request
  if (tail !== 'item' && tail !== 'raw_item') return webError(404)
  if (method !== 'POST') return webError(405)
  if (!/^(0x)?[0-9a-fA-F]{1,64}$/.test(handle)) return webError(400)
  if (contentType === undefined || !/^application\/(json|[a-z.]+\+json)(;|$)/.test(contentType)) return webError(415)
  if (request.bodyShare < 1) return webError(400)
  let keyHex: string | undefined
  if (tail === 'raw_item') {
    if (!/^"(0x)?([0-9a-fA-F]{2})*"$/.test(key)) return webError(400)
    keyHex = key.slice(1, -1).replace(/^0x/, '').toLowerCase()
  }
  const version = modelVersion(query)
  if (version === 'bad') return webError(400)
  const wantsBcs = accept === 'application/x-bcs'
  if (tail === 'raw_item' && accept === 'application/json') return { status: 403, code: 'api_disabled' }
  const [keyName, valueName] = [modelType(keyType), modelType(valueType)]
  if (tail === 'item' && (keyName === undefined || valueName === undefined)) return badInput
  const state = modelState(version)
  if (state) return state
  if (tail === 'item') {
    if (keyName === null) return badInput
    keyHex = modelEncode(keyName!, key)
    if (keyHex === undefined) return badInput
  }
  const table = addressHex(handle.replace(/^0x/, '').toLowerCase())
  const newest = items.filter((item) => item.handle === table && item.key === keyHex && item.from <= version).at(-1)
  if (!newest?.value) return { status: 404, code: 'table_item_not_found' }
  if (tail === 'raw_item' || wantsBcs) return { status: 200, body: newest.value }
  const text = valueName === null ? undefined : modelDecode(valueName!, newest.value)
  return text === undefined ? badInput : { status: 200, body: hexOf(text) }
}

function modelBalance(
  method: string,
  owner: string,
  asset: string,
  query: string,
  balances: readonly Balance[],
): Expected {
  if (method !== 'GET') return webError(405)
  if (!/^(0x)?[0-9a-fA-F]{1,64}$/.test(owner)) return webError(400)
  if (!/^(0x)?[0-9a-fA-F]{1,64}$/.test(asset) && !/^0x[0-9a-f]+::\w+::\w+(<u8>)?$/.test(asset)) return webError(400)
  const version = modelVersion(query)
  if (version === 'bad') return webError(400)
  const state = modelState(version)
  if (state) return state
  const holds =
    /^0x0*1::aptos_coin::AptosCoin$/.test(asset) && addressHex(owner.replace(/^0x/, '')) === addressHex(ACCOUNT)
  const newest = balances.filter(({ from }) => from <= version).at(-1)
  return { status: 200, body: hexOf(String(holds && newest ? newest.value : 0n)) }
}

const TYPES = ['bool', 'u8', 'u16', 'u64', 'u128', 'address', 'vector<u8>', STRING]
const KEYS = [
  'true',
  '7',
  '300',
  '"300"',
  '"007"',
  '12345678901234567890',
  '"0xa"',
  '"0x0102"',
  '"abc"',
  '"é"',
  '""',
  '"0x"',
] // prettier-ignore
const VALUES = [
  '01',
  '02',
  '0700',
  '2c01000000000000',
  addressHex('a'),
  '020102',
  '03616263',
  '02c3a9',
  '02ff41',
  '00',
  littleEndian(7n, 16),
]

function stringModule(): Write {
  const module = writeModule({
    version: 6,
    address: Buffer.from(addressHex('1'), 'hex'),
    name: 'string',
    structs: [
      {
        kind: 'struct',
        name: 'String',
        abilities: 7,
        typeParameters: [],
        fields: [{ name: 'bytes', type: { kind: 'vector', element: { kind: 'u8' } } }],
      },
    ],
  })
  return [moduleKey(Buffer.from(addressHex('1'), 'hex'), 'string'), module]
}

/** Up to twelve writes and deletions of items, none of one key twice. */
function writeItems(random: Random, version: number, items: Item[]): Write[] {
  const writes = new Map<string, Write>()
  for (let count = 0; count < 12; count++) {
    const handle = addressHex(random.pick(['7ab1e', 'b']))
    const key = modelEncode(random.pick(TYPES), random.pick(KEYS))
    if (key === undefined || writes.has(handle + key)) continue
    const value = random.below(5) === 0 ? null : random.pick(VALUES)
    writes.set(handle + key, [
      tableItemKey(Buffer.from(handle, 'hex'), Buffer.from(key, 'hex')),
      value === null ? null : Buffer.from(value, 'hex'),
    ])
    items.push({ handle, key, from: version, value })
  }
  return [...writes.values()]
}

function writeCoinStore(version: number, balances: Balance[]): Write {
  const value = BigInt(version) << 55n
  balances.push({ from: version, value })
  return [
    resourceKey(Buffer.from(addressHex(ACCOUNT), 'hex'), parseStructTag(`0x1::coin::CoinStore<${APT}>`)),
    Buffer.concat([Buffer.from(littleEndian(value, 8), 'hex'), Buffer.alloc(97)]),
  ]
}

async function fillEngine(engine: StateWriter, random: Random): Promise<Written> {
  const written: Written = { items: [], balances: [] }
  for (let version = 0; version <= LATEST; version++) {
    const writes = writeItems(random, version, written.items)
    if (version === 0) writes.push(stringModule())
    if (version % 7 === 3) writes.push(writeCoinStore(version, written.balances))
    const block = { height: BigInt(version), epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: BigInt(version), block, writes }], { chainId: 4n })
  }
  await engine.prune(BigInt(LATEST - OLDEST + 1))
  return written
}

const QUERIES = [
  '',
  '',
  'ledger_version=25',
  'ledger_version=%2B44',
  'ledger_version=60',
  'ledger_version=61',
  'ledger_version=19',
  'ledger_version=20',
  'x=1&ledger_version=33&ledger_version=1',
  '%zz=1&ledger_version=33',
  'ledger_version=',
  'ledger_version=-1',
  'ledger_version=+5',
  'ledger_version=18446744073709551616',
  'ledger_version=18446744073709551615',
]
const HOSTILE_TYPES = [
  '',
  '&u8',
  'u9',
  'vector<',
  `${'vector<'.repeat(12)}u8`,
  '0x1::string::Strin',
  '0x1::m::S<',
  'signer',
  '0x2::nowhere::T',
  '__proto__',
  ' u64 ',
  '0X01::string::String',
]
const ASSETS = [
  APT,
  encodeURIComponent(APT),
  '0x01::aptos_coin::AptosCoin',
  '0xa',
  'beef',
  'u8',
  '0x1::x',
  '0x9::m::T',
  '0x1%3A%3Am%3A%3AT%3Cu8%3E',
]

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly payload: string | undefined
  readonly expected: Expected
}

function balanceRequest(random: Random, { balances }: Written): Asked {
  const owner = random.pick([ACCOUNT, `0x${ACCOUNT}`, addressHex(ACCOUNT), 'b0b', 'zz', '0xz', '0x'])
  const asset = random.pick(ASSETS)
  const query = random.pick(QUERIES)
  const method = random.below(20) === 0 ? 'POST' : 'GET'
  const url = `/v1/accounts/${owner}/balance/${asset}${query && `?${query}`}`
  const expected = modelBalance(method, owner, decodeURIComponent(asset), query, balances)
  return { method, url, headers: {}, payload: undefined, expected }
}

/** A random request; most are right in most of their parts. */
function tableRequest({ below, pick }: Random, { items }: Written): Asked {
  const request: TableRequest = {
    method: below(40) === 0 ? pick(['GET', 'PUT', 'DELETE', 'QUERY']) : 'POST',
    handle: pick(['7ab1e', '0x7ab1e', '0xB', addressHex('b'), 'c', 'zz', '0X1']),
    tail: below(40) === 0 ? pick(['itemz', 'item/', 'rawitem']) : pick(['item', 'item', 'raw_item']),
    query: pick(QUERIES),
    contentType:
      below(30) === 0
        ? pick([undefined, 'text/plain', 'application/x-bcs'])
        : pick(['application/json', 'application/json; charset=utf-8', 'application/vnd.a+json']),
    accept: pick([undefined, undefined, '*/*', 'application/json', 'application/x-bcs']),
    keyType: below(12) === 0 ? pick(HOSTILE_TYPES) : pick(TYPES),
    valueType: below(12) === 0 ? pick(HOSTILE_TYPES) : pick(TYPES),
    key:
      below(30) === 0
        ? pick(['null', '[]', '{}', '-1', '1.5', '{"__proto__":1}'])
        : pick([...KEYS, '"0700000000000000"', '"0x01"', '"2c01000000000000"']),
    bodyShare: below(30) === 0 ? 0.7 : 1,
  }
  const { method, handle, tail, query, contentType, accept } = request
  const payload = bodyOf(request)
  const headers: Record<string, string> = { 'content-length': String(Buffer.byteLength(payload)) }
  if (contentType) headers['content-type'] = contentType
  if (accept) headers.accept = accept
  const url = `/v1/tables/${handle}/${tail}${query && `?${query}`}`
  return { method, url, headers, payload, expected: modelTable(request, items) }
}

async function send(port: number, agent: Agent, { method, url, headers, payload }: Asked) {
  const outgoing = request({ method, path: url, headers, agent, host: '127.0.0.1', port })
  outgoing.end(payload)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return { status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }
}

/** Compares an answer with the model's, and returns the status. */
async function expectModelAnswer(port: number, agent: Agent, asked: Asked): Promise<number> {
  const { status, headers, body } = await send(port, agent, asked)
  const { expected, ...request } = asked
  const text = body.toString()
  const code = status >= 400 ? (JSON.parse(text) as { error_code: string }).error_code : undefined
  const hex = expected.body === undefined ? undefined : body.toString('hex')
  if (status !== expected.status || code !== expected.code || hex !== expected.body) {
    expect({ ...request, status, code, body: hex, text }).toEqual({ ...request, ...expected })
  }
  const versions = [headers['x-svc-ledger-version'], headers['x-svc-ledger-oldest-version']]
  if (versions[0] !== String(LATEST) || versions[1] !== String(OLDEST)) {
    throw new Error(`the chain-state headers of ${request.method} ${request.url} tell of ${versions}`)
  }
  return status
}

const seed = testSeed()
const ROUNDS = scaledRounds(100_000)

it(`the server answers ${ROUNDS} generated requests as a plain model does (TEST_SEED=${seed})`, async () => {
  const random = createRandom(seed)
  const engine = createMemoryEngine()
  const written = await fillEngine(engine, random)
  const server = createHttpServer({ ledger: createLedger(engine), maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  const counts = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const asked = random.below(6) === 0 ? balanceRequest(random, written) : tableRequest(random, written)
    const status = await expectModelAnswer(port, agent, asked)
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  agent.destroy()
  server.close()
  await once(server, 'close')
  // The generator must reach every kind of answer.
  for (const status of [200, 400, 403, 404, 405, 410, 415]) {
    expect(counts.get(status), `status ${status}`).toBeGreaterThan(ROUNDS / 2_000)
  }
}, 1_200_000)
