import { readFileSync } from 'node:fs'
import { bytesToHex } from '@ledger-state/core'
import { ABILITY, writeModule } from '@ledger-state/move-module'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { expect, it } from 'vitest'
import type { ModuleAnswer } from '../api/answers.ts'
import { disassemble } from './disassemble.ts'

const address = new Uint8Array(32).fill(0, 0, 31)
address[31] = 7
const none = { constraints: 0, phantom: false }

it('the disassembler prints variants of enums, phantom parameters and types with their arguments', () => {
  const binary = writeModule({
    address,
    name: 'shop',
    version: 7,
    structs: [
      {
        kind: 'struct',
        name: 'Box',
        abilities: ABILITY.key | ABILITY.store,
        typeParameters: [none, { constraints: ABILITY.drop, phantom: true }],
        fields: [{ name: 'inner', type: { kind: 'vector', element: { kind: 'typeParameter', index: 0 } } }],
      },
      {
        kind: 'enum',
        name: 'Order',
        abilities: ABILITY.drop,
        typeParameters: [],
        variants: [
          { name: 'Empty', fields: [] },
          {
            name: 'Filled',
            fields: [
              {
                name: 'box',
                type: {
                  kind: 'struct',
                  module: { address, name: 'shop' },
                  name: 'Box',
                  typeArguments: [{ kind: 'u8' }, { kind: 'bool' }],
                },
              },
            ],
          },
        ],
      },
    ],
  })
  const { types, functions, formatVersion } = disassemble(bytesToHex(binary))
  expect([formatVersion, functions]).toEqual([7, []])
  expect(types).toMatchObject([
    {
      name: 'Box',
      parameters: '<T0, phantom T1: drop>',
      abilities: ['store', 'key'],
      variants: [{ name: undefined, fields: [{ name: 'inner', type: 'vector<T0>' }] }],
    },
    {
      kind: 'enum',
      variants: [
        { name: 'Empty', fields: [] },
        { name: 'Filled', fields: [{ name: 'box', type: '0x7::shop::Box<u8, bool>' }] },
      ],
    },
  ])
})

it('the disassembler refuses bytes that are no module', () => {
  expect(() => disassemble('0xa11ceb0bffff')).toThrow()
})

it.skipIf(!hasSharedData)('signatures have the parameters and results of the ABIs of nodes', () => {
  const { cases } = JSON.parse(readFileSync(sharedPath('cases/module-abi.json'), 'utf8')) as { cases: ModuleAnswer[] }
  const texts = (types: readonly string[]): string => types.join(', ').replaceAll(' ', '')
  let checked = 0
  for (const { bytecode, abi } of cases) {
    if (!abi) continue
    const { functions } = disassemble(bytecode)
    for (const { name, params, return: results } of abi.exposed_functions) {
      const signature = functions.find((one) => one.name === name)!.signature.replaceAll(' ', '')
      expect(signature).toContain(`fun${name}`)
      expect(signature).toContain(`(${texts(params)})`)
      if (results.length > 0)
        expect(signature).toContain(results.length > 1 ? `:(${texts(results)})` : `:${results[0]}`.replaceAll(' ', ''))
      checked++
    }
  }
  expect(checked).toBeGreaterThan(20)
})
