import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { atOnce, type BlockInfo, ByteReader, hexToBytes } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { LedgerHasher, readTransactionInfo } from '@ledger-state/proof'
import { readEvents, readTransaction } from '@ledger-state/proof/transactions'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { describe, expect, it } from 'vitest'
import { writesOf, writesOfGenesis } from '../../../testing/genesis-writes.js'
import { ModuleCache } from '../../caches/module-cache.js'
import { ModuleInterfaces } from '../../caches/module-interfaces.js'
import { CachedTypeResolver } from '../../types/type-resolver.js'
import { type CompleteTransaction, transactionToJson } from './transaction.js'

const KIT = 'conformance/transactions'

interface KitRequest {
  readonly id: string
  readonly path: string
  readonly expect: { readonly json?: unknown; readonly null_ok?: readonly string[] }
}

type Json = { readonly [name: string]: Json } & { readonly [at: number]: Json }

/** The records of a chunk of a backup: each a big-endian u32 length, and the parts without lengths. */
function readChunk(path: string): Omit<CompleteTransaction, 'accumulatorRoot'>[] {
  const chunk = gunzipSync(readFileSync(sharedPath(path)))
  const found: Omit<CompleteTransaction, 'accumulatorRoot'>[] = []
  for (let at = 0; at < chunk.length; ) {
    const length = chunk.readUInt32BE(at)
    const record = chunk.subarray(at + 4, at + 4 + length)
    at += 4 + length
    const reader = new ByteReader(record)
    const part = (read: () => unknown) => {
      const start = reader.offset
      read()
      return record.subarray(start, reader.offset)
    }
    const transaction = part(() => readTransaction(reader))
    const info = part(() => readTransactionInfo(reader))
    const events = part(() => readEvents(reader))
    found.push({ transaction, info, events, writeSet: record.subarray(reader.offset), indexInBlock: undefined })
  }
  return found
}

/** Replaces the members at JSON pointers by null, where the other value also has null. */
function withNulls(expected: Json, got: Json, pointers: readonly string[]): Json {
  const copy = structuredClone(expected)
  for (const pointer of pointers) {
    const parts = pointer.split('/').slice(1)
    const last = parts.pop()!
    const inside = (root: Json) => parts.reduce<Json | undefined>((value, part) => value?.[part], root)
    const [from, to] = [inside(got), inside(copy)]
    if (from?.[last] === null && to) (to as Record<string, unknown>)[last] = null
  }
  return copy
}

function memberAt(root: Json, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Json | undefined>((value, part) => value?.[part], root)
}

/** Object members by name, so that their order counts. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  return typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, member]) => [name, ordered(member)])
    : value
}

async function commitAll(engine: StateWriter, genesis: string, chunk: ReturnType<typeof readChunk>): Promise<void> {
  const block: BlockInfo = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const versions = [writesOfGenesis(genesis), ...chunk.map(({ writeSet }) => writesOf(writeSet))]
  await engine.commit(
    versions.map((writes, at) => ({ version: BigInt(at), block: { ...block, height: BigInt(at) }, writes })),
    { chainId: 4 },
  )
}

// These need the shared folder.
describe.runIf(hasSharedData)('the JSON of transactions', () => {
  it.each([
    ['transactions-requests.json', 'data/genesis/devnet.genesis.blob', 'gallery/transaction_1-.made/1-.chunk.gz'],
    ['made-transactions-requests.json', 'data/genesis/devnet.genesis.blob', 'made/transaction_1-.made/1-.chunk.gz'],
    [
      'testnet-transactions-requests.json',
      'data/genesis/testnet.genesis.blob',
      'testnet/transaction_1-.made/1-.chunk.gz',
    ],
  ])('is that of %s, asked twice', async (requests, genesis, chunkPath) => {
    const kit = JSON.parse(readFileSync(sharedPath(`${KIT}/${requests}`), 'utf8')) as { requests: KitRequest[] }
    const chunk = readChunk(`${KIT}/${chunkPath}`)
    const engine = createMemoryEngine()
    await commitAll(engine, genesis, chunk)
    const modules = new ModuleCache()
    const types = new CachedTypeResolver(modules)
    const interfaces = new ModuleInterfaces()
    const hasher = new LedgerHasher()
    let count = 0
    let decoded = 0
    for (const { id, path, expect: expected } of [...kit.requests, ...kit.requests]) {
      const at = /^\/v1\/transactions\/by_version\/(\d+)$/.exec(path)?.[1]
      const json = expected.json as Json | undefined
      if (at === undefined || !json) continue
      const version = BigInt(at)
      const accumulatorRoot = hexToBytes(String(json.accumulator_root_hash))
      const whole: CompleteTransaction = { ...chunk[Number(version) - 1]!, accumulatorRoot }
      const timestampUsec = BigInt(String(json.timestamp))
      const view = engine.at(version)
      const text = atOnce(
        transactionToJson({ view, types, modules, interfaces, hasher }, { version, whole, timestampUsec }),
      )
      const got = JSON.parse(text) as Json
      expect({ id, got: ordered(got) }).toEqual({ id, got: ordered(withNulls(json, got, expected.null_ok ?? [])) })
      for (const pointer of expected.null_ok ?? [])
        if (pointer.endsWith('/data') && memberAt(got, pointer) !== null) decoded++
      count++
    }
    expect(count).toBeGreaterThan(0)
    if (requests.startsWith('transactions')) expect(decoded, 'decoded items of tables').toBeGreaterThan(0)
  })
})
