// Histories of views of the framework of devnet, which read table items and members of resource groups. They are
// compared with calls at every version.
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { parseStructTag, parseTypeTag, resourceGroupKey, tableItemKey, writeStructTag } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { callView, primaryStoreAddress, readResource, viewHistory } from '../index.js'
import { createLedger } from '../state/create-ledger.js'
import type { ViewRequest } from './view-request.js'

const COIN = '0x1::aptos_coin::AptosCoin'
const CONVERSIONS = '0x1::coin::CoinConversionMap'
const NATIVE = parseAddress('0xa')
const HOLDER = parseAddress('0xcafe')
const RUNS = { numRuns: isSlowRun ? scaledRounds(200) : 20 }

const call = (name: string, type: string, ...json: string[]): ViewRequest => {
  const [module, fn] = name.split('::') as [string, string]
  return {
    ...{ address: parseAddress('0x1'), module, function: fn },
    ...{ typeArguments: [parseTypeTag(type)], arguments: { json } },
  }
}

/** The group of the holder's primary store: its core, its balance, and a member that no view here reads. */
function store(balance: bigint | undefined, other: boolean): Write {
  const address = primaryStoreAddress(HOLDER, NATIVE)
  const key = resourceGroupKey(address, parseStructTag('0x1::object::ObjectGroup'))
  if (balance === undefined) return [key, null]
  const core = new ByteWriter().u64(0n).bytes(HOLDER).bool(false).u64(0n).u64(0n).bytes(HOLDER).toBytes()
  const held = new ByteWriter().bytes(NATIVE).u64(balance).bool(false).toBytes()
  const members: [string, Uint8Array][] = [
    ['0x1::object::ObjectCore', core],
    ['0x1::fungible_asset::FungibleStore', held],
    ...(other ? ([['0x1::object::Untransferable', Uint8Array.of(0)]] satisfies [string, Uint8Array][]) : []),
  ]
  const encoded = members.map(([type, value]) => {
    const writer = new ByteWriter()
    writeStructTag(writer, parseStructTag(type))
    return { tag: writer.toBytes(), value }
  })
  encoded.sort((a, b) => Buffer.compare(a.tag, b.tag))
  const group = new ByteWriter().uleb128(encoded.length)
  for (const { tag, value } of encoded) group.bytes(tag).byteString(value)
  return [key, group.toBytes()]
}

describe.skipIf(!hasSharedData)('histories of views of the framework (skipped without ../shared)', () => {
  let genesis: readonly Write[]
  /** Key of the item that pairs the coin with its fungible asset. */
  let pairedKey: Uint8Array
  beforeAll(async () => {
    const source = await openSource(sharedPath('data/genesis/devnet.genesis.blob'))
    for await (const { writes } of source.versions()) genesis = writes
    await source.close()
    const map = readResource(createLedger(await ledgerOf([])).at(), parseAddress('0x1'), parseStructTag(CONVERSIONS))
    const { coin_to_fungible_asset_map: table } = JSON.parse(map.toJson()) as Record<string, { handle: string }>
    const typeInfo = new ByteWriter().bytes(parseAddress('0x1')).string('aptos_coin').string('AptosCoin').toBytes()
    pairedKey = tableItemKey(parseAddress(table!.handle), typeInfo)
    expect(genesis.some(([key]) => Buffer.compare(key, pairedKey) === 0)).toBe(true)
  })

  async function ledgerOf(versions: readonly (readonly Write[])[]): Promise<StateWriter> {
    const engine = createMemoryEngine()
    for (const [at, writes] of [genesis, ...versions].entries()) {
      const version = BigInt(at)
      const block = { height: version, epoch: 0n, timestampUsec: version * 1_000_000n }
      await engine.commit([{ version, block, writes }], { chainId: 4 })
    }
    return engine
  }

  it('are equal to asking at every version, with items of tables and groups that change, go and come back', async () => {
    const write = fc.oneof(
      fc
        .option(fc.constantFrom('0xa', '0xb'), { freq: 3 })
        .map((paired): Write => [pairedKey, paired === null ? null : parseAddress(paired)]),
      fc
        .tuple(fc.option(fc.nat(3), { freq: 3, nil: undefined }), fc.boolean())
        .map(([balance, other]) => store(balance === undefined ? undefined : BigInt(balance), other)),
    )
    const versions = fc.array(fc.uniqueArray(write, { maxLength: 2, selector: ([key]) => String(key) }), {
      minLength: 1,
      maxLength: 10,
    })
    const requests = fc.constantFrom(
      call('coin::paired_metadata', COIN),
      call('coin::balance', COIN, '0xcafe'),
      call('primary_fungible_store::balance', '0x1::fungible_asset::Metadata', '0xcafe', '0xa'),
    )
    const changing = new Set<string>()
    await fc.assert(
      fc.asyncProperty(versions, requests, async (writes, request) => {
        const engine = await ledgerOf(writes)
        const ledger = createLedger(engine)
        const asked: { version: bigint; answer: string }[] = []
        for (let version = 0n; version <= ledger.info!.latestVersion; version++) {
          const answer = answerOf(() => callView(ledger.at(version), request).map((result) => result.toJson()))
          if (asked.at(-1)?.answer !== answer) asked.push({ version, answer })
        }
        if (asked.length > 1) changing.add(request.function)
        const history = viewHistory(ledger.at(), request, { order: 'asc' })
        const told = Array.from(history, ({ version, value, error }) => ({
          version,
          answer: error ? error.message : JSON.stringify(value.json),
        }))
        expect(told).toEqual(asked)
        expect(history.exact).toBe(true)
      }),
      RUNS,
    )
    expect(changing.size).toBeGreaterThan(0)
  })
})

function answerOf(read: () => readonly string[]): string {
  try {
    return JSON.stringify(read())
  } catch (error) {
    return (error as Error).message
  }
}
