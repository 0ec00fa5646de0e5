import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import { ABILITY, moduleAbi, readModuleInterface, writeModule } from '@ledger-state/move-module'
import { moduleKey, parseStructTag, resourceGroupKey, resourceKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { objectWrite } from '../../testing/asset-ledger.ts'
import { groupOfTypes } from '../../testing/group-of-types.ts'
import { TurnQueue } from '../admission/turn-queue.js'
import { createRequestListener } from '../server/create-request-listener.js'

const MODULE = parseAddress('0xcafe')
const [GROUPED, HOLDER, OBJECT, OWNER] = ['0x10', '0x11', '0x12', '0x13'].map(
  (short) => `0x${short.slice(2).padStart(64, '0')}`,
) as [string, string, string, string]
const TYPES = ['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address']
/** Types of the members of long groups, in the order of the reference. */
const MEMBERS = TYPES.flatMap((a) => TYPES.flatMap((b) => TYPES.map((c) => `0xcafe::a::A<${a}, ${b}, ${c}>`)))
/** Most members that may be read or joined in one step. */
const MEMBERS_AT_ONCE = 64
const FLAGS = 200_000
/** Most text of a value or a module that may be made in one step. */
const TEXT_AT_ONCE = 128 << 10

const struct = { kind: 'struct', abilities: ABILITY.key | ABILITY.store } as const
const phantom = { constraints: 0, phantom: true }
const flags = { kind: 'vector', element: { kind: 'bool' } } as const
const BIG_MODULE = writeModule({
  version: 7,
  address: MODULE,
  name: 'big',
  structs: Array.from({ length: 500 }, (_, at) => ({
    ...struct,
    name: `S${at}`,
    typeParameters: [],
    fields: Array.from({ length: 10 }, (_, field) => ({
      name: `f${at}_${field}_`.padEnd(120, 'x'),
      type: { kind: 'u64' },
    })),
  })),
} as never)

async function createEngine(): Promise<StateWriter> {
  const module = writeModule({
    version: 7,
    address: MODULE,
    name: 'a',
    structs: [
      {
        ...struct,
        name: 'A',
        typeParameters: [phantom, phantom, phantom],
        fields: [{ name: 'x', type: { kind: 'bool' } }],
      },
      { ...struct, name: 'L', typeParameters: [], fields: [{ name: 'x', type: flags }] },
    ],
  } as never)
  const long = new ByteWriter().uleb128(FLAGS).bytes(new Uint8Array(FLAGS).fill(1)).toBytes()
  const writes: Write[] = [
    [moduleKey(MODULE, 'a'), module],
    [moduleKey(MODULE, 'big'), BIG_MODULE],
    [resourceGroupKey(parseAddress(GROUPED), parseStructTag('0x1::object::ObjectGroup')), groupOfTypes(MEMBERS)],
    [resourceKey(parseAddress(HOLDER), parseStructTag('0xcafe::a::L')), long],
    objectWrite(
      OBJECT,
      OWNER,
      true,
      MEMBERS.map((type) => [type, (writer) => writer.u8(1)] as const),
    ),
  ]
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit(withHoldings([{ version: 0n, block, writes }]), { chainId: 4n })
  return engine
}

describe('an answer with one long part is made in turns', () => {
  let engine: StateWriter
  beforeAll(async () => {
    engine = await createEngine()
  })
  afterEach(() => void vi.restoreAllMocks())

  /** Asks with a clock by which each step takes a turn. Returns the answer, and the turns that it left to others. */
  const ask = async (url: string, options: object = {}): Promise<{ readonly body: string; readonly turns: number }> => {
    const listener = createRequestListener({
      ledger: createLedger(engine),
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10))
    const turns = vi.spyOn(TurnQueue.prototype, 'nextTurn')
    const { statusCode, body } = await inject(listener, { url, ...options })
    expect([statusCode, body.slice(0, 200)]).toEqual([200, expect.any(String)])
    return { body, turns: turns.mock.calls.length }
  }
  const post = (payload: object) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, payload })

  it('a group is read and sorted in steps', async () => {
    const { body, turns } = await ask(`/v1/accounts/${GROUPED}/resources`)
    const items = JSON.parse(body) as { readonly type: string; readonly data: object }[]
    expect(items.length).toBe(MEMBERS.length)
    expect(new Set(items.map(({ type }) => type))).toEqual(new Set(MEMBERS))
    // Each item may be followed by a turn.
    expect(turns).toBeGreaterThanOrEqual(MEMBERS.length + (2 * MEMBERS.length) / MEMBERS_AT_ONCE)
  })

  const LONG = `"data":{"x":[${'true,'.repeat(FLAGS).slice(0, -1)}]}`
  const least = LONG.length / TEXT_AT_ONCE
  const resource = `/v1/accounts/${HOLDER}/resource/0xcafe::a::L`
  const reads: Readonly<Record<string, readonly [url: string, options?: object]>> = {
    'a resource': [resource],
    resources: [`/v1/accounts/${HOLDER}/resources`],
    'a batch of resources': [
      '/v1/resources:batch',
      post({ requests: [{ address: HOLDER, resource_type: '0xcafe::a::L' }] }),
    ],
    'a batch': ['/v1/batch', post({ requests: [{ path: resource }] })],
  }
  for (const [name, [url, options]] of Object.entries(reads)) {
    it(`${name} with a long value is printed in steps`, async () => {
      const { body, turns } = await ask(url, options)
      expect(body.includes(LONG)).toBe(true)
      expect(turns).toBeGreaterThan(least)
    })
  }

  it('a history of a long value is printed in steps', async () => {
    const { body, turns } = await ask(`${resource}/history`)
    expect(body.includes(LONG.slice('"data":'.length))).toBe(true)
    expect(turns).toBeGreaterThan(least)
  })

  it('the types of an object are read and joined in steps', async () => {
    const { body, turns } = await ask(`/v1/accounts/${OWNER}/objects`)
    const [object] = JSON.parse(body) as [{ readonly resources: readonly string[] }]
    expect(new Set(object.resources)).toEqual(new Set(['0x1::object::ObjectCore', ...MEMBERS]))
    expect(turns).toBeGreaterThanOrEqual((2 * MEMBERS.length) / MEMBERS_AT_ONCE)
    vi.restoreAllMocks()
    const csv = await ask(`/v1/accounts/${OWNER}/objects`, { headers: { accept: 'text/csv' } })
    expect(csv.body.split('\r\n')[1]).toContain(object.resources.join(' '))
    expect(csv.turns).toBeGreaterThanOrEqual((2 * MEMBERS.length) / MEMBERS_AT_ONCE)
  })

  it('a module is read and printed in steps', async () => {
    const abi = JSON.stringify(moduleAbi(readModuleInterface(BIG_MODULE)))
    for (const url of [`/v1/accounts/0xcafe/module/big`, '/v1/accounts/0xcafe/modules']) {
      const { body, turns } = await ask(url)
      expect(body.includes(`"abi":${abi}}`)).toBe(true)
      expect(turns).toBeGreaterThan((BIG_MODULE.length + abi.length) / TEXT_AT_ONCE)
      vi.restoreAllMocks()
    }
  })
})
