import { parseJson } from '@ledger-state/bcs'
import type { StateReader } from '@ledger-state/core'
import { ByteWriter, bytesToHex, hexToBytes, parseAddress, type Write } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { ABILITY, type MoveModule, writeModule } from '@ledger-state/move-module'
import { createMemoryEngine } from '@ledger-state/state-engine'
import { overriding } from '@ledger-state/testing/overriding'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import {
  moduleKey,
  parseStructTag,
  parseTypeTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  writeStructTag,
} from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { parseAsset } from './balances/asset.js'
import { pairedMetadataAddress, primaryStoreAddress } from './balances/derived-address.js'
import { createLedger } from './create-ledger.js'

const HOME = parseAddress('0xcafe')
const HANDLE = parseAddress('0x7ab1e')

function moduleWith(...fields: string[]): Uint8Array {
  const module: MoveModule = {
    version: 7,
    address: HOME,
    name: 'm',
    structs: [
      {
        kind: 'struct',
        name: 'S',
        abilities: ABILITY.store,
        typeParameters: [],
        fields: fields.map((name) => ({ name, type: { kind: 'u8' } })),
      },
    ],
  }
  return writeModule(module)
}

/** An engine whose version n holds the n-th list of writes, each version a block. */
async function engineOf(...versions: Write[][]) {
  const engine = createMemoryEngine()
  for (const [at, writes] of versions.entries()) {
    const version = BigInt(at)
    await engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: 0n }, writes }], { chainId: 4 })
  }
  return engine
}

const item = (valueType: string, key = '"1"', keyType = 'u64') => ({
  handle: HANDLE,
  keyType: parseTypeTag(keyType),
  valueType: parseTypeTag(valueType),
  key: parseJson(key),
})
const itemWrite = (value: string): Write => [tableItemKey(HANDLE, hexToBytes('0x0100000000000000')), hexToBytes(value)]

describe('readTableItem', () => {
  it('prints a value by the module as it stood at the version read, also after an upgrade', async () => {
    const engine = await engineOf(
      [[moduleKey(HOME, 'm'), moduleWith('b', 'a')], itemWrite('0x0102')],
      [],
      [[moduleKey(HOME, 'm'), moduleWith('b', 'c')]],
      [],
    )
    const ledger = createLedger(engine)
    const printed = (version: bigint) => ledger.at(version).readTableItem(item('0xcafe::m::S')).toJson()
    const before = '{"a":2,"b":1}'
    const after = '{"b":1,"c":2}'
    for (let round = 0; round < 2; round++) {
      expect([3n, 0n, 2n, 1n, 3n].map(printed)).toEqual([after, before, after, before, after])
    }
  })

  it('sees a module that an upgrade changes after the type was cached', async () => {
    const engine = await engineOf([[moduleKey(HOME, 'm'), moduleWith('a')], itemWrite('0x01')])
    const ledger = createLedger(engine)
    expect(ledger.at().readTableItem(item('0xcafe::m::S')).toJson()).toBe('{"a":1}')
    const block = { height: 1n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 1n, block, writes: [[moduleKey(HOME, 'm'), moduleWith('z')]] }], { chainId: 4 })
    expect(ledger.at().readTableItem(item('0xcafe::m::S')).toJson()).toBe('{"z":1}')
  })

  it('costs one look-up once its types are resolved', async () => {
    const engine = await engineOf([[moduleKey(HOME, 'm'), moduleWith('a')], itemWrite('0x01')])
    let lookUps = 0
    const counted = overriding<StateReader>(engine, {
      at: (version?: bigint) => {
        const view = engine.at(version)
        const counting =
          <T>(find: (key: Uint8Array) => T) =>
          (key: Uint8Array) => {
            lookUps++
            return find(key)
          }
        return { ...view, get: counting(view.get), getEntry: counting(view.getEntry) }
      },
    })
    const ledger = createLedger(counted)
    ledger.at().readTableItem(item('0xcafe::m::S')).toJson()
    lookUps = 0
    ledger.at().readTableItem(item('0xcafe::m::S')).toJson()
    expect(lookUps).toBe(1)
  })

  it('says what was not found, with the key as it was given', async () => {
    const ledger = createLedger(await engineOf([]))
    expect(() => ledger.at().readTableItem(item('u8', '"42"'))).toThrow(
      'Table Item not found by Table handle(0x7ab1e), Table key("42") and Ledger version(0)',
    )
    expect(() => ledger.at().readRawTableItem(HANDLE, new Uint8Array(0))).toThrow('Table key(0x)')
  })

  it('blames the key, or the value type, for what does not fit', async () => {
    const ledger = createLedger(await engineOf([itemWrite('0x0102')]))
    const read = (request: ReturnType<typeof item>) => () => ledger.at().readTableItem(request).toJson()
    expect(read(item('u8', '"x"'))).toThrow(
      expect.objectContaining({ code: 'invalid_value', message: expect.stringContaining('key of type u64') }),
    )
    expect(read(item('u8', '1', '0x1::no::T'))).toThrow(expect.objectContaining({ code: 'invalid_value' }))
    expect(read(item('0x1::no::T'))).toThrow(expect.objectContaining({ code: 'value_type_mismatch' }))
    expect(read(item('u8'))).toThrow(
      expect.objectContaining({ code: 'value_type_mismatch', message: expect.stringContaining('not a u8') }),
    )
  })

  it('is pruned where the pruner passed it, never empty or older', async () => {
    const engine = await engineOf([itemWrite('0x01')], [itemWrite('0x02')], [itemWrite('0x03')])
    const state = createLedger(engine).at(0n)
    await engine.prune(1n)
    expect(() => state.readTableItem(item('u8'))).toThrow(expect.objectContaining({ code: 'version_pruned' }))
    expect(() => state.readBalance(HOME, parseAsset('0xa'))).toThrow(
      expect.objectContaining({ code: 'version_pruned' }),
    )
  })
})

describe('parseAsset', () => {
  it('takes addresses first, then struct tags', () => {
    for (const text of ['a', '0xA', '0x000a'])
      expect(parseAsset(text)).toEqual({ kind: 'fungibleAsset', metadata: parseAddress('0xa') })
    expect(parseAsset('0x1::a::B< u8 >')).toMatchObject({ kind: 'coin', coin: { name: 'B' } })
    for (const text of ['', 'u8', 'AptosCoin', '0x1::a', '0x1::a-b::C']) {
      expect(() => parseAsset(text)).toThrow(expect.objectContaining({ code: 'invalid_type_tag' }))
    }
  })
})

describe('derived addresses', () => {
  it('are those of the chain', () => {
    expect(bytesToHex(primaryStoreAddress(parseAddress('0x1'), parseAddress('0xa')))).toBe(
      '0xc6d3d69a9810647845a5ca5ebe905256dc37327c1c39c1d673de00caaac0e3a8',
    )
    expect(pairedMetadataAddress(parseStructTag('0x1::aptos_coin::AptosCoin'))).toEqual(parseAddress('0xa'))
    const moon = parseStructTag(
      '0x66c34778730acbb120cefa57a3d98fd21e0c8b3a51e9baee530088b2e444e94c::moon_coin::MoonCoin',
    )
    expect(bytesToHex(pairedMetadataAddress(moon))).toBe(
      '0xf772c28c069aa7e4417d85d771957eb3c5c11b5bf90b1965cda23b899ebc0384',
    )
  })
})

describe('readBalance', () => {
  const APT = parseAsset('0x1::aptos_coin::AptosCoin')
  const storeKey = resourceGroupKey(
    primaryStoreAddress(HOME, parseAddress('0xa')),
    parseStructTag('0x1::object::ObjectGroup'),
  )
  const coinKey = resourceKey(HOME, parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'))
  const coinStore = (value: string): Write => [coinKey, hexToBytes(`0x${value}${'00'.repeat(97)}`)]

  it('is 500-worthy only where stored bytes are at fault', async () => {
    const at = async (...writes: Write[]) => createLedger(await engineOf(writes)).at()
    expect((await at()).readBalance(HOME, APT)).toBe(0n)
    expect((await at(coinStore('6400000000000000'))).readBalance(HOME, APT)).toBe(100n)
    expect((await at(coinStore('6400000000000000'))).readBalance(HOME, parseAsset('0xa'))).toBe(0n)
    expect((await at([storeKey, Uint8Array.of(255)])).readBalance(HOME, APT)).toBe(0n)
    const broken = await at([coinKey, Uint8Array.of(1)])
    expect(() => broken.readBalance(HOME, APT)).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
  })

  it('refuses a sum above u64', async () => {
    const group = new ByteWriter().uleb128(1)
    writeStructTag(group, parseStructTag('0x1::fungible_asset::FungibleStore'))
    group.byteString(new ByteWriter().bytes(parseAddress('0xa')).u64(1n).bool(false).toBytes())
    const state = createLedger(await engineOf([coinStore('ffffffffffffffff'), [storeKey, group.toBytes()]])).at()
    expect(state.readBalance(HOME, parseAsset('0xa'))).toBe(1n)
    expect(() => state.readBalance(HOME, APT)).toThrow(expect.objectContaining({ code: 'balance_overflow' }))
  })
})

describe.skipIf(!hasSharedData)('the genesis of mainnet', () => {
  it('holds 424 coin stores of AptosCoin with the known sum, and prints by its own modules', async () => {
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath('data/genesis/mainnet.genesis.blob'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    const ledger = createLedger(engine).at()
    const coin = parseAsset('0x1::aptos_coin::AptosCoin')
    let holders = 0
    let sum = 0n
    for await (const { writes } of (await openSource(sharedPath('data/genesis/mainnet.genesis.blob'))).versions()) {
      for (const [key] of writes) {
        const account = key.subarray(1, 33)
        const expected = resourceKey(account, parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'))
        if (Buffer.compare(key, expected) !== 0) continue
        holders++
        sum += ledger.readBalance(account, coin)
      }
    }
    expect([holders, sum]).toEqual([424, 18_062_791_321_240_000n])
  })
})
