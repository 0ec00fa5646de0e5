import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { ABILITY, type FieldDefinition, type SignatureToken, writeModule } from '@ledger-state/move-module'
import type { Random } from '@ledger-state/testing/random'
import { moduleKey, parseStructTag, resourceGroupKey, resourceKey, tableItemKey } from '@ledger-state/type-tag'

// A small ledger with a bit of everything, and random requests for its content. Struct S of module m0 has a field of a
// struct of m1, that struct a field of one of m2, and so on, so that types take several modules. Modules are upgraded
// now and then.

const LATEST = 90
const WINDOW = 71n
const VERSIONS_OF_BLOCK = 3
const MODULES = 4
const HOME = '0xcafe'
const OWNERS = ['0xcafe', '0xa11ce', '0xb0b']
const HANDLES = ['0x7ab1e', '0xbeef']
const COIN = '0x1::aptos_coin::AptosCoin'
const home = parseAddress(HOME)
const GROUP = parseStructTag('0x1::object::ObjectGroup')

/** Write of a module. `wide` says whether its struct has one field more, as after an upgrade. */
function moduleWrite(at: number, wide: boolean): Write {
  const name = `m${at}`
  const next: SignatureToken =
    at + 1 < MODULES
      ? { kind: 'struct', module: { address: home, name: `m${at + 1}` }, name: 'S', typeArguments: [] }
      : { kind: 'u8' }
  const fields: FieldDefinition[] = [
    { name: 'inner', type: next },
    { name: wide ? 'wide' : 'narrow', type: { kind: 'u8' } },
  ]
  const structs = [{ kind: 'struct' as const, name: 'S', abilities: ABILITY.key, typeParameters: [], fields }]
  return [moduleKey(home, name), writeModule({ version: 7, address: home, name, structs })]
}

function bytesOfStruct(random: Random, at: number): Uint8Array {
  return random.bytes(MODULES - at + 1)
}

function writesOf(random: Random, version: number): Write[] {
  const writes = new Map<string, Write>()
  const put = (write: Write): void => void writes.set(Buffer.from(write[0]).toString('hex'), write)
  for (let at = 0; at < MODULES; at++) {
    if (version === 0 || random.below(60) === 0) put(moduleWrite(at, random.below(2) === 0))
  }
  const value = (bytes: Uint8Array): Uint8Array | null => (random.below(6) === 0 ? null : bytes)
  for (let count = 0; count < 8; count++) {
    const address = parseAddress(random.pick(OWNERS))
    const at = random.below(MODULES)
    const resource = parseStructTag(`${HOME}::m${at}::S`)
    const coins = new ByteWriter()
      .u64(BigInt(random.below(1_000)))
      .bytes(new Uint8Array(97))
      .toBytes()
    const key = new ByteWriter().u64(BigInt(random.below(24))).toBytes()
    put([tableItemKey(parseAddress(random.pick(HANDLES)), key), value(bytesOfStruct(random, at))])
    if (random.below(2) === 0) put([resourceKey(address, resource), value(bytesOfStruct(random, at))])
    if (random.below(2) === 0)
      put([resourceKey(address, parseStructTag(`0x1::coin::CoinStore<${COIN}>`)), value(coins)])
    if (random.below(8) === 0) put([resourceGroupKey(address, GROUP), value(Uint8Array.of(0))])
  }
  return [...writes.values()]
}

export async function createRandomLedger(random: Random): Promise<StateWriter> {
  const engine = createMemoryEngine()
  for (let version = 0; version <= LATEST; version++) await commitNext(engine, random)
  await engine.prune(WINDOW)
  return engine
}

/** Commits one more version. */
export async function commitNext(engine: StateWriter, random: Random): Promise<void> {
  const version = engine.ledger ? Number(engine.ledger.latestVersion) + 1 : 0
  const height = BigInt(Math.floor(version / VERSIONS_OF_BLOCK))
  const block = { height, epoch: 0n, timestampUsec: BigInt(version) * 1_000_000n }
  const record = { version: BigInt(version), writes: writesOf(random, version) }
  await engine.commit([version % VERSIONS_OF_BLOCK === 0 ? { ...record, block } : record], { chainId: 4 })
}

export interface RandomRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Record<string, string>
  readonly payload?: string
}

const JSON_BODY = { 'content-type': 'application/json' }

function query(random: Random, parts: readonly string[]): string {
  const chosen = parts.filter((part) => part !== '' && random.below(3) === 0)
  return chosen.length === 0 ? '' : `?${chosen.join('&')}`
}

/** A request of any operation, mostly for something that exists. */
export function randomRequest(random: Random): RandomRequest {
  const version = random.below(LATEST + 5)
  const owner = random.pick([...OWNERS, '0xdead'])
  const handle = random.pick([...HANDLES, '0xdead'])
  const struct = `${HOME}::m${random.below(MODULES + 1)}::S`
  const state = random.pick(['', `ledger_version=${version}`, `ledger_timestamp=${version * 1_000_000 + 5}`])
  const limit = random.pick(['', `limit=${1 + random.below(30)}`])
  const range = [`from=${random.below(LATEST)}`, `to=${version}`, 'order=asc', limit]
  const item = (): object => ({ key_type: 'u64', value_type: struct, key: String(random.below(26)) })
  const raw = { key: `0x${random.below(26).toString(16).padStart(2, '0')}00000000000000` }
  const get = (path: string, parts: readonly string[]): RandomRequest => ({
    method: 'GET',
    url: `/v1${path}${query(random, parts)}`,
    headers: random.below(3) === 0 ? { accept: 'application/x-bcs' } : {},
  })
  const post = (path: string, parts: readonly string[], body: object): RandomRequest => ({
    ...get(path, parts),
    method: 'POST',
    headers: JSON_BODY,
    payload: JSON.stringify(body),
  })
  const balance = `/accounts/${owner}/balance/${random.pick([COIN, '0xa'])}`
  const resource = `/accounts/${owner}/resource/${struct}`
  const many = <T>(one: () => T): { requests: T[] } => ({ requests: Array.from({ length: random.below(40) }, one) })
  const requests: readonly (() => RandomRequest)[] = [
    () => get(balance, [state]),
    () => post(`/tables/${handle}/item`, [state], item()),
    () => post(`/tables/${handle}/raw_item`, [state], raw),
    () => get(`/accounts/${owner}`, [state]),
    () => get(resource, [state]),
    () => get(`/accounts/${owner}/resources`, [state, limit]),
    () => get(`/accounts/${random.pick([HOME, owner])}/modules`, [state, limit]),
    () => get(`/accounts/${HOME}/module/m${random.below(MODULES + 1)}`, [state]),
    () => get(`/blocks/by_height/${random.below(35)}`, []),
    () => get(`/blocks/by_version/${version}`, []),
    () => get(`/tables/${handle}/items`, [state, limit, `holder=${owner}`, 'key_type=u64', `value_type=${struct}`]),
    () => get(`${balance}/history`, [...range, `points=${4 + random.below(40)}`]),
    () => get(`${resource}/history`, range),
    () => post(`/tables/${handle}/item/history`, range, item()),
    () => post(`/tables/${handle}/raw_item/history`, range, raw),
    () => get(`/accounts/${owner}/changes`, [`from=${random.below(LATEST)}`, `to=${version}`, limit]),
    () => get('', []),
    () => get('/-/healthy', []),
    () =>
      post('/view', [state], {
        function: '0x1::coin::balance',
        type_arguments: [COIN],
        arguments: [owner],
      }),
    () =>
      post('/experimental/state_values/raw', [state], {
        key: `01${handle.slice(2).padStart(64, '0')}08${raw.key.slice(2)}`,
      }),
    () =>
      post(
        '/tables/items:batch',
        [state],
        many(() => ({ table_handle: handle, ...item() })),
      ),
    () =>
      post(
        '/balances:batch',
        [state],
        many(() => ({ address: random.pick(OWNERS), asset_type: COIN })),
      ),
    () =>
      post(
        '/resources:batch',
        [state],
        many(() => ({ address: random.pick(OWNERS), resource_type: struct })),
      ),
    () =>
      post('/batch', [state], {
        requests: [{ path: `/v1${balance}/history` }, { path: `/v1${resource}` }, { path: '/v1/nowhere' }],
      }),
  ]
  return random.pick(requests)()
}
