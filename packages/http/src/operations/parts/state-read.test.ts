import { ByteReader, bytesToHex } from '@ledger-state/core'
import { engineToAsync } from '@ledger-state/engine'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import {
  checkStateProof,
  jsonToStateProof,
  LedgerHasher,
  readStateProof,
  type StateProof,
  stateProofToJson,
} from '@ledger-state/proof'
import { moduleKey, parseStructTag, resourceGroupKey, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  CHECKPOINT,
  createProvenLedger,
  END,
  EPOCH,
  GAME,
  HOME,
  type ProvenLedger,
  pair,
  TABLE,
  waypointOf,
} from '../../../testing/proven-ledger.ts'
import { TurnQueue } from '../../admission/turn-queue.js'
import { createRequestListener } from '../../server/create-request-listener.js'

let proven: ProvenLedger
let ask: ReturnType<typeof askerOf>

function askerOf(options: Partial<Parameters<typeof createRequestListener>[0]> = {}) {
  const listener = createRequestListener({
    ledger: createLedger(proven.engine),
    proofs: proven.proofs,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    ...options,
  })
  return async (url: string, body?: unknown, accept = 'application/json') => {
    const { statusCode, rawPayload, payload, headers } = await inject(listener, {
      method: body === undefined ? 'GET' : 'POST',
      url: `/v1${url}`,
      headers: { accept, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return { status: statusCode, bytes: Uint8Array.from(rawPayload), text: payload, headers }
  }
}

beforeAll(async () => {
  proven = await createProvenLedger()
  ask = askerOf()
})
afterAll(() => proven.close())

const NO_PROOF = 'this operation has no proofs; `GET /v1/spec` shows the operations that have the parameter `proof`'
const hasher = new LedgerHasher()
const AT = `ledger_version=${CHECKPOINT}&proof=true`
const item = (key: string) => ({ key_type: 'u64', value_type: '0xcafe::game::Score', key })
const rawKey = bytesToHex(Uint8Array.of(3, 0, 0, 0, 0, 0, 0, 0))
const tableKey = (number: number) => tableItemKey(TABLE, Uint8Array.of(number, 0, 0, 0, 0, 0, 0, 0))
/** A state key in BCS form, as `raw` takes it. */
const stateKeyOfTable = (number: number) => bytesToHex(Uint8Array.from([1, ...TABLE, 8, number, 0, 0, 0, 0, 0, 0, 0]))

async function askJson(url: string, body?: unknown): Promise<{ readonly value: unknown; readonly proof: StateProof }> {
  const { status, text } = await ask(url, body)
  expect(status, text).toBe(200)
  const answer = JSON.parse(text) as { readonly value: unknown; readonly proof: unknown }
  expect(Object.keys(answer)).toEqual(['value', 'proof'])
  const proof = jsonToStateProof(answer.proof)
  expect(checkStateProof(hasher, proof).ledgerInfo.version).toBe(END)
  return { value: answer.value, proof }
}

describe('?proof=true', () => {
  it('proves table items, resources, members of groups, accounts and raw values', async () => {
    const score = parseStructTag('0xcafe::game::Score')
    const reads = [
      [`/tables/0x7ab1e/item?${AT}`, item('3'), { first: '3', second: '9' }, tableKey(3)],
      [`/tables/0x7ab1e/raw_item?${AT}`, { key: rawKey }, bytesToHex(pair(3n, 9n)), tableKey(3)],
      [
        `/accounts/0xcafe/resource/0xcafe::game::Score?${AT}`,
        undefined,
        { type: '0xcafe::game::Score', data: { first: '3', second: '4' } },
        resourceKey(HOME, score),
      ],
      [
        `/accounts/0xcafe/resource/0xcafe::game::Member?${AT}`,
        undefined,
        { type: '0xcafe::game::Member', data: { first: '5', second: '6' } },
        resourceGroupKey(HOME, parseStructTag('0xcafe::game::Group')),
      ],
      [
        `/accounts/0xcafe?${AT}`,
        undefined,
        { sequence_number: '7', authentication_key: bytesToHex(HOME) },
        resourceKey(HOME, parseStructTag('0x1::account::Account')),
      ],
      [
        `/accounts/0xcafe/module/game?${AT}`,
        undefined,
        { bytecode: bytesToHex(GAME), abi: expect.objectContaining({ name: 'game' }) },
        moduleKey(HOME, 'game'),
      ],
    ] as const
    for (const [url, body, value, key] of reads) {
      const answer = await askJson(url, body)
      expect(answer.value).toEqual(value)
      expect(bytesToHex(answer.proof.stateKey)).toBe(bytesToHex(key))
      expect(answer.proof.stateValue).toBeDefined()
      expect(answer.proof.epochEndings).toEqual([])
    }
    const raw = await askJson(`/experimental/state_values/raw?${AT}`, { key: stateKeyOfTable(3) })
    expect(raw.value).toBe(bytesToHex(raw.proof.stateValue!))
    expect(raw.proof.stateValue).toEqual(Uint8Array.from([0, 16, ...pair(3n, 9n)]))
    const withMetadata = await askJson(`/experimental/state_values/raw?${AT}`, { key: stateKeyOfTable(4) })
    expect(withMetadata.proof.stateValue!.length).toBe(1 + 1 + 16 + 17)
  })

  it('proves that there is no value', async () => {
    const reads = [
      [`/tables/0x7ab1e/item?${AT}`, item('77')],
      [`/tables/0x7ab1e/raw_item?${AT}`, { key: '0x01' }],
      [`/accounts/0xbeef/resource/0xcafe::game::Score?${AT}`, undefined],
      [`/accounts/0xbeef/resource/0xcafe::game::Member?${AT}`, undefined],
      [`/accounts/0xbeef?${AT}`, undefined],
      [`/accounts/0xbeef/module/game?${AT}`, undefined],
      [`/accounts/0xcafe/module/other?${AT}`, undefined],
      [`/experimental/state_values/raw?${AT}`, { key: stateKeyOfTable(99) }],
    ] as const
    for (const [url, body] of reads) {
      const answer = await askJson(url, body)
      expect(answer.value).toBeNull()
      expect(answer.proof.stateValue).toBeUndefined()
    }
  })

  it('has the whole group if a member is not in it', async () => {
    const answer = await askJson(`/accounts/0xcafe/resource/0xcafe::game::Missing?${AT}`)
    expect(answer.value).toBeNull()
    expect(answer.proof.stateValue).toBeDefined()
  })

  it('answers in BCS: an option of the value, and the proof', async () => {
    const json = await askJson(`/tables/0x7ab1e/item?${AT}`, item('3'))
    for (const [url, body] of [
      ['item', item('3')],
      ['raw_item', { key: rawKey }],
    ] as const) {
      const { status, bytes, headers } = await ask(`/tables/0x7ab1e/${url}?${AT}`, body, 'application/x-bcs')
      expect([status, headers['content-type']]).toEqual([200, 'application/x-bcs'])
      const reader = new ByteReader(bytes)
      expect(reader.readBool()).toBe(true)
      expect(Uint8Array.from(reader.readByteString())).toEqual(Uint8Array.from(pair(3n, 9n)))
      expect(stateProofToJson(readStateProof(reader))).toEqual(stateProofToJson(json.proof))
      reader.expectEnd()
    }
  })

  it('is made in turns for a long value: checked, and written in both formats', async () => {
    const bytes = new Uint8Array(1 << 20).fill(0xab)
    const large = await createProvenLedger({ further: [[tableItemKey(TABLE, Uint8Array.of(7)), bytes]] })
    try {
      const asking = askerOf({ ledger: createLedger(large.engine), proofs: large.proofs })
      for (const accept of ['application/json', 'application/x-bcs']) {
        let now = performance.now()
        const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10))
        const turns = vi.spyOn(TurnQueue.prototype, 'nextTurn')
        const answer = await asking(`/tables/0x7ab1e/raw_item?${AT}`, { key: '0x07' }, accept)
        clock.mockRestore()
        expect(answer.status).toBe(200)
        const reader = new ByteReader(answer.bytes)
        const isBcs = accept === 'application/x-bcs'
        const value = isBcs && reader.readBool() ? Uint8Array.from(reader.readByteString()) : undefined
        const json = isBcs ? undefined : (JSON.parse(answer.text) as { value: string; proof: unknown })
        expect(value ? bytesToHex(value) : json!.value).toBe(bytesToHex(bytes))
        const proof = json ? jsonToStateProof(json.proof) : readStateProof(reader)
        expect(checkStateProof(hasher, proof).ledgerInfo.version).toBe(END)
        // The hash of the value, its own bytes and those of the proof, 64 KiB a step.
        expect(turns.mock.calls.length).toBeGreaterThan((3 * bytes.length) / 65_536 - 5)
        turns.mockRestore()
      }
    } finally {
      large.close()
    }
  })

  it('has the epoch changes since a waypoint, if it is asked for them', async () => {
    for (const from of [0, 2, EPOCH - 1]) {
      const { proof } = await askJson(`/accounts/0xcafe?${AT}&proof_from=${encodeURIComponent(waypointOf(from))}`)
      expect(proof.epochEndings).toHaveLength(EPOCH - from)
    }
    const none = await askJson(`/accounts/0xcafe?${AT}&proof_from=${END}:${'0'.repeat(64)}`)
    expect(none.proof.epochEndings).toEqual([])
    const unknown = await ask(`/accounts/0xcafe?${AT}&proof_from=7:${'0'.repeat(64)}`)
    expect(unknown.status).toBe(400)
    expect(unknown.text).toContain(
      'this store has no epoch change at version 7 that precedes the ledger info of version 44',
    )
    expect((await ask(`/accounts/0xcafe?${AT}&proof_from=7`)).text).toContain('is not a waypoint')
  })

  it('leaves later epoch changes to another operation, in both formats, from the oldest if no waypoint is named', async () => {
    const bytesOf = (from: number) =>
      proven.proofs.endings({ version: BigInt(from * 10), lastEpoch: 9n, maxBytes: 1e6 })
    for (const [query, from] of [
      ['', 0],
      [`?from=${waypointOf(0)}`, 0],
      [`?from=${encodeURIComponent(waypointOf(EPOCH - 1))}`, EPOCH - 1],
    ] as const) {
      const expected = (await bytesOf(from))!
      expect(expected).toHaveLength(EPOCH - from)
      const { text } = await ask(`/-/epoch_endings${query}`)
      expect(JSON.parse(text)).toEqual({ epoch_endings: expected.map(bytesToHex) })
      const reader = new ByteReader((await ask(`/-/epoch_endings${query}`, undefined, 'application/x-bcs')).bytes)
      expect(reader.readLength()).toBe(expected.length)
      for (const ending of expected) expect(bytesToHex(reader.readByteString())).toBe(bytesToHex(ending))
      reader.expectEnd()
    }
    const unknown = await ask(`/-/epoch_endings?from=7:${'0'.repeat(64)}`)
    expect([unknown.status, unknown.text]).toEqual([
      400,
      expect.stringContaining('parameter `from`: this store has no epoch change at version 7'),
    ])
    expect((await ask('/-/epoch_endings?from=7')).text).toContain('is not a waypoint')
    const without = await askerOf({ proofs: undefined })('/-/epoch_endings')
    expect([without.status, without.text]).toEqual([200, '{"epoch_endings":[]}'])
  })

  it('names the nearest version with a tree, or says that there is none', async () => {
    for (const query of ['proof=true', `proof=true&ledger_version=${CHECKPOINT + 1n}`]) {
      const { status, text } = await ask(`/accounts/0xcafe?${query}`)
      expect(status).toBe(410)
      expect(JSON.parse(text)).toEqual({
        message:
          'this store has no proof at version 42; the nearest version with a proof is 41: ask with ledger_version=41',
        error_code: 'version_pruned',
        nearest_proof_version: '41',
      })
    }
    const without = await askerOf({ proofs: undefined })(`/accounts/0xcafe?${AT}`)
    expect(without.status).toBe(400)
    expect(JSON.parse(without.text)).toMatchObject({ error_code: 'invalid_input' })
    expect((await ask('/accounts/0xcafe?proof=yes')).text).toContain('neither true nor false')
    expect((await ask('/accounts/0xcafe?proof=false')).text).toContain('sequence_number')
  })

  it('is refused by each operation that gives none, and by elements of a batch', async () => {
    const { paths } = JSON.parse((await ask('/spec.json')).text) as {
      paths: Record<string, Record<string, { parameters?: readonly { name: string }[] }>>
    }
    const provable: string[] = []
    for (const [path, item] of Object.entries(paths)) {
      for (const method of ['get', 'post'].filter((name) => name in item)) {
        if (item[method]!.parameters?.some(({ name }) => name === 'proof')) {
          provable.push(path)
          continue
        }
        const url = path.replaceAll(/\{\w+\}/g, '0x1')
        for (const query of ['proof=true', 'x&%70roof=TRUE', `${'x&'.repeat(200)}proof`]) {
          const { status, text } = await ask(`${url}?${query}`, method === 'post' ? {} : undefined)
          expect([path, status, JSON.parse(text).message]).toEqual([path, 400, NO_PROOF])
        }
      }
    }
    expect(provable).toEqual(
      expect.arrayContaining([
        '/accounts/{address}',
        '/accounts/{address}/balance/{asset_type}',
        '/accounts/{address}/module/{module_name}',
        '/accounts/{address}/resource/{resource_type}',
        '/experimental/state_values/raw',
        '/tables/{table_handle}/item',
        '/tables/{table_handle}/raw_item',
        '/view',
      ]),
    )
    const element = { path: '/v1/accounts/0xcafe/balances?proof=true' }
    expect((await ask('/batch', { requests: [element] })).text).toContain(NO_PROOF)
    const balance = { path: `/v1/accounts/0xcafe/balance/0xa?${AT}` }
    const { text } = await ask('/batch', { requests: [balance] })
    expect(JSON.parse(text)).toMatchObject([{ value: { value: 0, proof: { values: [{ state_value: null }] } } }])
    expect((await ask('/info?proof=false')).status).toBe(200)
    for (const query of ['proof=false&proof=true', `${AT}&proof=false`, 'proof=false&x&%70roof=false']) {
      const { status, text } = await ask(`/accounts/0xcafe?${query}`)
      expect([status, text]).toEqual([400, expect.stringContaining('occurs more than once')])
    }
  })

  it('is the same over an engine whose reads are promises', async () => {
    const elsewhere = askerOf({ ledger: createAsyncLedger(engineToAsync(proven.engine)) })
    for (const [url, body] of [
      [`/tables/0x7ab1e/item?${AT}`, item('3')],
      [`/tables/0x7ab1e/item?${AT}`, item('77')],
      [`/accounts/0xcafe/resource/0xcafe::game::Member?${AT}&proof_from=${waypointOf(1)}`, undefined],
    ] as const) {
      expect((await elsewhere(url, body)).text).toBe((await ask(url, body)).text)
    }
  })

  it('is not sent if the store and the tree differ', async () => {
    const { engine, tree } = proven
    const version = CHECKPOINT + 2n
    const block = { height: 2n, epoch: BigInt(EPOCH), timestampUsec: 6n }
    await engine.commit([{ version, block, writes: [[tableKey(3), Uint8Array.of(1)]] }], { chainId: 4n })
    const faults: unknown[] = []
    const asking = askerOf({
      proofs: { ...proven.proofs, versions: [version], at: () => tree },
      onUnexpectedError: (error) => faults.push(error),
    })
    const { status } = await asking(`/tables/0x7ab1e/raw_item?ledger_version=${version}&proof=true`, { key: rawKey })
    expect(status).toBe(500)
    expect(faults).toMatchObject([{ code: 'verification_failed' }])
    await engine.truncateTo(CHECKPOINT + 1n)
  })

  it('is announced where the signatures are', async () => {
    const { text } = await ask('/-/trust')
    expect(JSON.parse(text)).toMatchObject({ proof_versions: ['41'], hash_salt: 'APTOS::' })
  })
})
