// Proofs at ends of blocks, from a store that was filled and audited by the program to a verified answer.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ByteReader, ByteWriter, bytesToHex, parseAddress, type Write } from '@ledger-state/core'
import { computeStateRoot } from '@ledger-state/feed'
import { madeCheckpoint } from '@ledger-state/feed/testing/made-checkpoint'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  madeEndings,
  signedLedgerInfo,
  validatorsOf,
  waypointHash,
  writeEndings,
} from '@ledger-state/feed/testing/synthetic-epochs'
import { createRequestListener } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { GENESIS, HELD, HOLDERS, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { verifyBalanceAnswer, verifyRead } from '@ledger-state/light-client'
import { writeModule } from '@ledger-state/move-module'
import {
  checkStateProof,
  checkValuesProof,
  jsonToStateProof,
  jsonToValuesProof,
  LedgerHasher,
  pairedMetadataAddress,
  primaryStoreAddress,
  readLedgerInfo,
  type StateProof,
} from '@ledger-state/proof'
import { CHECKPOINT_KEY, checkpointToBytes, STATE_ROOT_KEY } from '@ledger-state/records'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import {
  moduleKey,
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  writeStructTag,
} from '@ledger-state/type-tag'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { auditAllRoots } from './audit-all-roots.js'
import { auditFolder } from './audit-folder.js'
import { openBlockProofs } from './block-proofs.js'
import { openProofs } from './open-proofs.js'

const hasher = new LedgerHasher()
const log = { error: (text: string) => expect(text).toBe('no error') }
let bed: CommandBed
const closers: (() => unknown)[] = []
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  bed.close()
})

interface Served {
  readonly engine: LmdbEngineReader
  ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly json: Record<string, unknown> }>
  /** The text of an answer with the status 200. */
  askText(path: string): Promise<string>
}

/** Serves a store of the bed as a reader process does. */
async function serve(name: string): Promise<Served> {
  const engine = openStateEngineReader({ path: bed.at(name) })
  const blocks = openBlockProofs(engine, auditFolder(bed.at(name)), log)
  const proofs = openProofs(engine, bed.at(name), log, blocks)
  const ledger = createLedger(engine)
  const server: Server = createServer(
    createRequestListener({ ledger, proofs, maxEventLoopDelayMs: Number.POSITIVE_INFINITY }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    proofs.close()
    await engine.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    engine,
    async askText(path) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`)
      const text = await answer.text()
      expect([answer.status, text]).toEqual([200, expect.any(String)])
      return text
    },
    async ask(path, body) {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const headers = { accept: 'application/json', 'content-type': 'application/json' }
      const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`, { ...sent, headers })
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
    },
  }
}

/** BCS of a state key in database form. */
function toBcs(key: Uint8Array): string {
  if (key[0] === 0) return bytesToHex(key)
  const head = key[0] === 1 ? 33 : 1
  return bytesToHex(new ByteWriter().bytes(key.subarray(0, head)).byteString(key.subarray(head)).toBytes())
}

/** Reads a state value with its proof, which must hold. */
async function provenValue({ ask }: Served, version: bigint, key: Uint8Array): Promise<StateProof> {
  const path = `/experimental/state_values/raw?ledger_version=${version}&proof=true`
  const { status, json } = await ask(path, { key: toBcs(key) })
  expect([status, json]).toEqual([200, expect.any(Object)])
  const proof = jsonToStateProof(json.proof)
  checkStateProof(hasher, proof)
  expect(proof.checkpoint.version).toBe(version)
  expect(json.value).toBe(proof.stateValue ? bytesToHex(proof.stateValue) : null)
  return proof
}

/**
 * Fills a store with blocks of one version, each with a checkpoint that validators signed. Returns the state of each
 * version, by keys in hex.
 */
async function fillSigned(name: string, versions: readonly (readonly Write[])[]) {
  const engine = openStateEngine({ path: bed.at(name), durability: 'none' })
  const validators = validatorsOf(4)
  const state = new Map<string, { readonly key: Uint8Array; readonly value: Uint8Array }>()
  const history: (readonly [version: bigint, values: ReadonlyMap<string, Uint8Array>])[] = []
  for (const [at, writes] of versions.entries()) {
    const version = BigInt(at)
    for (const [key, value] of writes) {
      if (value) state.set(bytesToHex(key), { key, value })
      else state.delete(bytesToHex(key))
    }
    const entries = [...state.values()].map((entry) => ({ ...entry, version }))
    const { root: stateRoot } = await computeStateRoot([entries], { spillFolder: bed.folder, threads: 0 })
    const signed = { epoch: 4n, nextEpoch: undefined, validators, signers: validators }
    const checkpoint = madeCheckpoint({ version, end: version + 1n, stateRoot, ...signed })
    const own: Write[] = [
      [STATE_ROOT_KEY, stateRoot],
      [CHECKPOINT_KEY, checkpointToBytes(checkpoint)],
    ]
    const block = { height: version, epoch: 4n, timestampUsec: version }
    await engine.commit([{ version, block, writes: [...writes, ...own] }], { chainId: 4n })
    history.push([version, new Map([...state].map(([text, { value }]) => [text, value]))])
  }
  await engine.close()
  return history
}

describe('proofs at ends of blocks', () => {
  it('exist at each one that a signature covers; elsewhere the answer names the nearest', async () => {
    const chain = new SyntheticChain({ signers: true, blocks: 22 })
    writeBackup(chain, bed.at('backup'), { chunk: 30 })
    writeEndings(bed.at('backup'), chain.endings().map(signedLedgerInfo))
    const waypoint = `0:${waypointHash(chain.endings()[0]!)}`
    const options = ['--waypoint', waypoint, '--keep-transactions', 'whole', '--checkpoint-trees', '0']
    expect(bed.ingest('backup', 'store', ...options)).toMatchObject({ status: 0 })
    const store = ['--data-dir', 'store']
    const served = await serve('store')
    const read = `/experimental/state_values/raw?proof=true`
    const absent = tableItemKey(parseAddress('0xabc'), Uint8Array.of(255))
    const refused = await served.ask(read, { key: toBcs(absent) })
    expect(refused).toMatchObject({ status: 400, json: { message: expect.stringContaining('proof') } })
    expect(bed.run('check', '--all-roots', '--proofs-budget', '1000', ...store)).toMatchObject({ status: 0 })
    const later = await serve('store')
    const last = chain.latestVersion
    const ends = chain.expected.flatMap(({ version }) =>
      version === last || chain.expected[Number(version) + 1]!.block ? [version] : [],
    )
    const { json: trust } = await later.ask('/-/trust')
    expect(trust).toMatchObject({
      proof_versions: [String(last)],
      proof_blocks: { first_version: '0', last_version: String(last) },
      hash_salt: 'APTOS::',
    })
    // The chain also has made-up paths, which the API takes for no state keys.
    const keys = chain
      .stateLeaves(Number(last))
      .map(({ key }) => key)
      .filter((key) => key[0] === 1 || key[32] === 1)
    for (const [index, version] of ends.entries()) {
      const there = new Map(chain.stateLeaves(Number(version)).map((item) => [bytesToHex(item.key), item.stateValue]))
      // Some of the keys at each end, all of them over the ends.
      const asked = keys.filter((_, at) => at % ends.length === index || at % 7 === index % 7)
      for (const key of [...asked, absent]) {
        const { stateValue, checkpoint } = await provenValue(later, version, key)
        const expected = there.get(bytesToHex(key))
        expect(stateValue && bytesToHex(stateValue)).toBe(expected && bytesToHex(expected))
        // The info has the root that the chain computes by itself.
        expect(bytesToHex(checkpoint.transactionInfo)).toContain(bytesToHex(chain.stateRoot(Number(version))).slice(2))
      }
    }
    for (let version = 0n; version <= last; version++) {
      if (ends.includes(version)) continue
      const { status, json } = await later.ask(`${read}&ledger_version=${version}`, { key: toBcs(absent) })
      const distances = ends.map((end) => Math.abs(Number(end - version)))
      const nearest = Number(json.nearest_proof_version)
      expect([status, Math.abs(nearest - Number(version))]).toEqual([410, Math.min(...distances)])
    }
  })

  it('prove resources, members of groups, items, modules and balances, there or not', async () => {
    const home = parseAddress('0xcafe')
    const tag = (text: string) => parseStructTag(text)
    const coinStore = tag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>')
    const group = tag('0x1::object::ObjectGroup')
    const primary = parseAddress('0x57')
    const groupBytes = new ByteWriter().uleb128(1)
    const keys = {
      resource: resourceKey(home, tag('0xcafe::game::Score')),
      group: resourceGroupKey(home, group),
      item: tableItemKey(home, Uint8Array.of(1, 2)),
      module: moduleKey(home, 'game'),
      coins: resourceKey(home, coinStore),
      primaryStore: resourceGroupKey(primary, group),
    }
    const present = Object.entries(keys)
    const versions = Array.from({ length: 9 }, (_, version) =>
      present.flatMap(([, key], at): Write[] => {
        if ((version + at) % 4 === 3) return [[key, null]]
        return (version + at) % 4 === 0 ? [[key, Uint8Array.of(version, at, ...groupBytes.toBytes())]] : []
      }),
    )
    const history = await fillSigned('made', versions)
    const served = await serve('made')
    await auditAllRoots(served.engine, 'made', { folder: auditFolder(bed.at('made')), proofsBudget: 1_000, threads: 0 })
    let [there, absent] = [0, 0]
    for (const [version, values] of history) {
      for (const [name, key] of present) {
        const { stateValue } = await provenValue(served, version, key)
        const value = values.get(bytesToHex(key))
        const expected = value && new ByteWriter().u8(0).byteString(value).toBytes()
        expect([name, version, stateValue && bytesToHex(stateValue)]).toEqual([
          name,
          version,
          expected && bytesToHex(expected),
        ])
        if (value) there++
        else absent++
      }
    }
    expect(Math.min(there, absent)).toBeGreaterThan(present.length)

    // After a truncation, other versions may have the same numbers: there are no proofs until the next audit.
    const writer = openStateEngine({ path: bed.at('made'), durability: 'none' })
    await writer.truncateTo(5n)
    await writer.close()
    const cut = await serve('made')
    const path = '/experimental/state_values/raw?ledger_version=4&proof=true'
    expect(await cut.ask(path, { key: toBcs(keys.item) })).toMatchObject({ status: 400 })
    await auditAllRoots(cut.engine, 'made', { folder: auditFolder(bed.at('made')), threads: 0 })
    const again = await serve('made')
    for (const version of [0n, 4n, 5n]) await provenValue(again, version, keys.item)
  })

  it('prove balances and modules as the API reads them, to the light client', async () => {
    const owner = '0xcafe'
    const apt = '0x1::aptos_coin::AptosCoin'
    const [code, other] = ['game', 'other'].map((name) =>
      writeModule({ version: 7, address: parseAddress(owner), name, structs: [] }),
    )
    const coins = resourceKey(parseAddress(owner), parseStructTag(`0x1::coin::CoinStore<${apt}>`))
    const metadata = pairedMetadataAddress(parseStructTag(apt))
    const primary = resourceGroupKey(
      primaryStoreAddress(parseAddress(owner), metadata),
      parseStructTag('0x1::object::ObjectGroup'),
    )
    const inCoins = (value: bigint) => new ByteWriter().u64(value).bytes(new Uint8Array(97)).toBytes()
    const inStore = (value: bigint) => {
      const group = new ByteWriter().uleb128(1)
      writeStructTag(group, parseStructTag('0x1::fungible_asset::FungibleStore'))
      return group.byteString(new ByteWriter().bytes(metadata).u64(value).bool(false).toBytes()).toBytes()
    }
    const game = moduleKey(parseAddress(owner), 'game')
    const steps: (readonly [writes: readonly Write[], balance: bigint, module: Uint8Array | undefined])[] = [
      [[[tableItemKey(parseAddress('0x1'), Uint8Array.of(1)), Uint8Array.of(1)]], 0n, undefined],
      [[[coins, inCoins(5n)]], 5n, undefined],
      [
        [
          [primary, inStore(7n)],
          [game, code!],
        ],
        12n,
        code,
      ],
      [[[coins, null]], 7n, code],
      [
        [
          [primary, inStore(2n ** 64n - 1n)],
          [game, other!],
        ],
        2n ** 64n - 1n,
        other,
      ],
      [
        [
          [primary, null],
          [game, null],
        ],
        0n,
        undefined,
      ],
    ]
    await fillSigned(
      'assets',
      steps.map(([writes]) => writes),
    )
    const served = await serve('assets')
    await auditAllRoots(served.engine, 'assets', {
      ...{ folder: auditFolder(bed.at('assets')), proofsBudget: 1_000, threads: 0 },
    })
    const trustedValidators = readLedgerInfo(new ByteReader(signedLedgerInfo(madeEndings(4)[3]!))).nextEpoch!
    for (let round = 0; round < 2; round++) {
      for (const [at, [, balance, module]] of steps.entries()) {
        const version = BigInt(at)
        const query = `?ledger_version=${at}&proof=true`
        const ofCoin = await served.askText(`/accounts/${owner}/balance/${apt}${query}`)
        const question = { address: owner, asset: apt }
        expect(await verifyBalanceAnswer(ofCoin, { question, version, trustedValidators })).toMatchObject({ balance })
        const ofModule = await served.askText(`/accounts/${owner}/module/game${query}`)
        const code = await verifyRead(ofModule, {
          ...{ question: { kind: 'module', address: owner, name: 'game' }, version, trustedValidators },
        })
        expect(code.bytes && bytesToHex(code.bytes)).toBe(module && bytesToHex(module))
      }
    }
    const { status, json } = await served.ask(`/accounts/${owner}/balance/${apt}?ledger_version=99&proof=true`)
    expect([status, json.error_code]).toEqual([404, 'version_not_found'])
  })

  it('prove views, with the values that they read at each end', async () => {
    const held = resourceKey(HOLDERS[0]!, HELD)
    const values = [11, 12, undefined, 12, 13]
    const versions = values.map((value, at): readonly Write[] => [
      ...(at === 0 ? GENESIS : []),
      [held, value === undefined ? null : u64(value)],
    ])
    await fillSigned('views', versions)
    const served = await serve('views')
    await auditAllRoots(served.engine, 'views', {
      folder: auditFolder(bed.at('views')),
      proofsBudget: 1_000,
      threads: 0,
    })
    const ask = (name: string, at: number) =>
      served.ask(`/view?ledger_version=${at}&proof=true`, {
        function: `0x42::main::${name}`,
        type_arguments: [],
        arguments: [bytesToHex(HOLDERS[0]!)],
      })
    for (let round = 0; round < 2; round++) {
      for (const [at, value] of values.entries()) {
        const { status, json } = await ask(value === undefined ? 'holds' : 'value', at)
        expect([status, json.value]).toEqual([200, [value === undefined ? false : String(value)]])
        const proof = jsonToValuesProof(json.proof)
        checkValuesProof(hasher, proof)
        expect(proof.checkpoint.version).toBe(BigInt(at))
        const found = proof.values.find(({ stateKey }) => bytesToHex(stateKey) === bytesToHex(held))!
        expect(found.stateValue !== undefined).toBe(value !== undefined)
      }
    }
  })
})
