// Misspelt names on the command line: the error, or a line on standard error, says which one is wrong.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const M = '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15'
const OWNER = '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'
const ITEM = `get table-item 0x7ab1e3 --key {"Tea":{}} --key-type`

let bed: CommandBed

beforeAll(async () => {
  bed = new CommandBed()
  await bed.fillWithDemo('demo')
})
afterAll(async () => {
  await bed.close()
})

function run(line: string) {
  return bed.run(...line.split(' '), '--data-dir', 'demo')
}

describe('the error names the wrong word', () => {
  it.each([
    [`get module ${M} harbuor`, `${M} has no module "harbuor"; did you mean harbour?`],
    [`get module ${M} Harbour`, `${M} has no module "Harbour"; did you mean harbour?`],
    [`get module ${M} zzz`, `${M} has no module "zzz"; it has bean, market, harbour`],
    ['get module 0x5 harbour', '0x5 has no modules'],
    [`get resource ${M} ${M}::harbuor::Harbour`, `${M} has no module "harbuor"; did you mean harbour?`],
    [`get resource ${M} ${M}::harbour::Harbor`, `${M}::harbour has no type "Harbor"; did you mean Harbour?`],
    [`get resource ${M} ${M}::harbour::Harbour<u8>`, `${M}::harbour::Harbour takes 0 type arguments, not 1`],
    [
      `get resource ${M} ${M}::harbour::Good`,
      `${M}::harbour::Good is not the type of a resource: it lacks the ability key`,
    ],
    [`get resource 0x5 ${M}::harbour::Harbour`, 'the type is right, but 0x5 has no resource of it'],
    [
      `get resource ${OWNER} 0x1::coin::CoinStore<vector<0x1::aptos_coin::AptosCoinn>>`,
      '0x1::aptos_coin has no type "AptosCoinn"; did you mean AptosCoin?',
    ],
    [`${ITEM} ${M}::harbour::Goods --value-type u8`, `${M}::harbour has no type "Goods"; did you mean Good?`],
    [
      `${ITEM} ${M}::harbour::Good --value-type ${M}::harbour::Prise`,
      `${M}::harbour has no type "Prise"; did you mean Price?`,
    ],
    [
      `get table-item 0x5 --key {"Tea":{}} --key-type ${M}::harbour::Good --value-type u8`,
      'the table 0x5 has no items',
    ],
    [`view ${M}::markte::quote 1`, `${M} has no module "markte"; did you mean market?`],
    [`view ${M}::market::qoute 1`, `${M}::market has no view function "qoute"; did you mean quote?`],
    [
      `view 0x1::coin::balance ${OWNER} --type-arg 0x1::aptos_coin::AptosCoinn`,
      '0x1::aptos_coin has no type "AptosCoinn"; did you mean AptosCoin?',
    ],
  ])('of %s', (line, hint) => {
    const { status, stdout, stderr } = run(line)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^ledger-state: .*\n$/)
    expect(stderr.slice(0, -1).endsWith(`; ${hint}`), stderr).toBe(true)
  })
})

it('an error about something else stays as it is', () => {
  expect(run(`view ${M}::market::quote`).stderr).toBe(
    'ledger-state: expected 1 arguments [string<u64>], but got 0 ([])\n',
  )
})

it('a balance of nothing in an unknown asset has a line on standard error', () => {
  const unknown = '0x1::aptos_coin has no type "AptosCoinn"; did you mean AptosCoin?\n'
  const balance = (asset: string) => run(`get balance 0x5 ${asset}`)
  expect(balance('0x1::aptos_coin::AptosCoinn')).toEqual({ status: 0, stdout: '0\n', stderr: unknown })
  expect(balance('0xb')).toEqual({ status: 0, stdout: '0\n', stderr: 'this state has no such asset\n' })
  expect(balance('0x1::aptos_coin::AptosCoin')).toEqual({ status: 0, stdout: '0\n', stderr: '' })
})

it('a history has the wrong word on standard error', () => {
  expect(run(`history resource ${M} ${M}::harbuor::Harbour`)).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/^no changes of .*: 0xdecaf\w+ has no module "harbuor"; did you mean harbour\?\n$/),
  })
  expect(run(`view ${M}::market::qoute 1 --history`)).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/^at version 2999, .*::market has no view function "qoute"; did you mean quote\?\n/),
  })
})
