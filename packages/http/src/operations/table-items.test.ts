import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { ABILITY, type SignatureToken, type StructDefinition, writeModule } from '@ledger-state/move-module'
import { moduleKey, parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const FRAMEWORK = parseAddress('0x1')
const HOME = parseAddress('0xcafe')

function tableOf(key: SignatureToken, value: SignatureToken): SignatureToken {
  return { kind: 'struct', module: { address: FRAMEWORK, name: 'table' }, name: 'Table', typeArguments: [key, value] }
}

function moduleWrite(address: Uint8Array, name: string, struct: StructDefinition): Write {
  return [moduleKey(address, name), writeModule({ version: 7, address, name, structs: [struct] })]
}

/** `0xcafe::m::Outer` holds table 0x7 of tables; its item 1 holds table 0x8, whose item `true` is 5. */
async function ledgerOfTables() {
  const open = { constraints: 0, phantom: true }
  const struct = { kind: 'struct', abilities: ABILITY.store | ABILITY.key } as const
  const inner = tableOf({ kind: 'bool' }, { kind: 'u8' })
  const writes: Write[] = [
    moduleWrite(FRAMEWORK, 'table', {
      ...struct,
      name: 'Table',
      typeParameters: [open, open],
      fields: [{ name: 'handle', type: { kind: 'address' } }],
    }),
    moduleWrite(HOME, 'm', {
      ...struct,
      name: 'Outer',
      typeParameters: [],
      fields: [{ name: 'tables', type: tableOf({ kind: 'u8' }, inner) }],
    }),
    [resourceKey(HOME, parseStructTag('0xcafe::m::Outer')), parseAddress('0x7')],
    [tableItemKey(parseAddress('0x7'), Uint8Array.of(1)), parseAddress('0x8')],
    [tableItemKey(parseAddress('0x8'), new ByteWriter().bool(true).toBytes()), Uint8Array.of(5)],
  ]
  const engine = createMemoryEngine()
  await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes }], { chainId: 4n })
  return createLedger(engine)
}

it("a listing of a table takes the types of its items from the account's other data, and names the place", async () => {
  const listener = createRequestListener({ ledger: await ledgerOfTables() })
  const items = async (target: string) =>
    JSON.parse((await inject(listener, `/v1/tables/${target}`)).body) as Readonly<Record<string, unknown>>
  expect(await items('0x7/items?holder=0xcafe')).toEqual({
    key_type: 'u8',
    value_type: '0x1::table::Table<bool, u8>',
    found_in: '0xcafe::m::Outer',
    items: [{ key: 1, value: { handle: '0x8' } }],
  })
  const nested = {
    key_type: 'bool',
    value_type: 'u8',
    found_in: '0xcafe::m::Outer',
    found_in_item: { table_handle: '0x7', raw_key: '0x01' },
    items: [{ key: true, value: 5 }],
  }
  expect(await items('0x8/items?holder=0xcafe')).toEqual(nested)
  expect(await items('0x8/items?holder=0xcafe&value_type=i8')).toEqual({ ...nested, value_type: 'i8' })
  expect(await items('0x9/items?holder=0xcafe')).toMatchObject({ key_type: null, found_in: null, items: [] })
})
