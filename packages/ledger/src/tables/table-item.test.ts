import { parseJson } from '@ledger-state/bcs'
import { hexToBytes, parseAddress, type Write } from '@ledger-state/core'
import type { StateReader } from '@ledger-state/engine'
import { ABILITY, type MoveModule, writeModule } from '@ledger-state/move-module'
import { overriding } from '@ledger-state/testing/overriding'
import { moduleKey, parseTypeTag, tableItemKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { parseAsset } from '../assets/asset.js'
import { readBalance, readRawTableItem, readTableItem } from '../index.js'
import { createLedger } from '../state/create-ledger.js'

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

const item = (valueType: string, key = '"1"', keyType = 'u64') => ({
  handle: HANDLE,
  keyType: parseTypeTag(keyType),
  valueType: parseTypeTag(valueType),
  key: parseJson(key),
})
const itemWrite = (value: string): Write => [tableItemKey(HANDLE, hexToBytes('0x0100000000000000')), hexToBytes(value)]

describe('readTableItem', () => {
  it('prints a value by the module of the version read, even after an upgrade', async () => {
    const engine = await engineOf(
      [[moduleKey(HOME, 'm'), moduleWith('b', 'a')], itemWrite('0x0102')],
      [],
      [[moduleKey(HOME, 'm'), moduleWith('b', 'c')]],
      [],
    )
    const ledger = createLedger(engine)
    const printed = (version: bigint) => readTableItem(ledger.at(version), item('0xcafe::m::S')).toJson()
    const before = '{"a":2,"b":1}'
    const after = '{"b":1,"c":2}'
    for (let round = 0; round < 2; round++) {
      expect([3n, 0n, 2n, 1n, 3n].map(printed)).toEqual([after, before, after, before, after])
    }
  })

  it('sees a module that an upgrade changes after the type was cached', async () => {
    const engine = await engineOf([[moduleKey(HOME, 'm'), moduleWith('a')], itemWrite('0x01')])
    const ledger = createLedger(engine)
    expect(readTableItem(ledger.at(), item('0xcafe::m::S')).toJson()).toBe('{"a":1}')
    const block = { height: 1n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 1n, block, writes: [[moduleKey(HOME, 'm'), moduleWith('z')]] }], { chainId: 4 })
    expect(readTableItem(ledger.at(), item('0xcafe::m::S')).toJson()).toBe('{"z":1}')
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
    readTableItem(ledger.at(), item('0xcafe::m::S')).toJson()
    lookUps = 0
    readTableItem(ledger.at(), item('0xcafe::m::S')).toJson()
    expect(lookUps).toBe(1)
  })

  it('names the missing item, with the key as it was given', async () => {
    const ledger = createLedger(await engineOf([]))
    expect(() => readTableItem(ledger.at(), item('u8', '"42"'))).toThrow(
      'Table Item not found by Table handle(0x7ab1e), Table key("42") and Ledger version(0)',
    )
    expect(() => readRawTableItem(ledger.at(), HANDLE, new Uint8Array(0))).toThrow('Table key(0x)')
  })

  it('names the key or the value type as the one that does not fit', async () => {
    const ledger = createLedger(await engineOf([itemWrite('0x0102')]))
    const read = (request: ReturnType<typeof item>) => () => readTableItem(ledger.at(), request).toJson()
    expect(read(item('u8', '"x"'))).toThrow(
      expect.objectContaining({ code: 'invalid_value', message: expect.stringContaining('key of type u64') }),
    )
    expect(read(item('u8', '1', '0x1::no::T'))).toThrow(expect.objectContaining({ code: 'invalid_value' }))
    expect(read(item('0x1::no::T'))).toThrow(expect.objectContaining({ code: 'value_type_mismatch' }))
    expect(read(item('u8'))).toThrow(
      expect.objectContaining({ code: 'value_type_mismatch', message: expect.stringContaining('not a u8') }),
    )
  })

  it('is pruned if the pruner passed it, never empty or older', async () => {
    const engine = await engineOf([itemWrite('0x01')], [itemWrite('0x02')], [itemWrite('0x03')])
    const state = createLedger(engine).at(0n)
    await engine.prune(1n)
    expect(() => readTableItem(state, item('u8'))).toThrow(expect.objectContaining({ code: 'version_pruned' }))
    expect(() => readBalance(state, HOME, parseAsset('0xa'))).toThrow(
      expect.objectContaining({ code: 'version_pruned' }),
    )
  })
})
