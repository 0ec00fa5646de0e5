// Reads of the ledger of `@ledger-state/http/testing/proven-ledger`, and their results.
import { bytesToHex } from '@ledger-state/core'
import { GAME, pair } from '@ledger-state/http/testing/proven-ledger'
import { encodeStateValue, tableItemKey } from '@ledger-state/type-tag'
import { moduleRequest } from '../src/module-request.ts'
import type { ReadQuestion } from '../src/question.ts'

const itemBody = (key: string) => ({ key_type: 'u64', value_type: '0xcafe::game::Score', key })
export const itemQuestion = (key: string): ReadQuestion => ({
  kind: 'table_item',
  handle: '0x7ab1e',
  keyType: 'u64',
  valueType: '0xcafe::game::Score',
  key,
})
export const resource = (name: string, address = '0xcafe') =>
  ({ kind: 'resource', address, type: `0xcafe::game::${name}` }) as const
const rawKey = Uint8Array.of(3, 0, 0, 0, 0, 0, 0, 0)
const stateKey = tableItemKey(new Uint8Array([...new Uint8Array(29), 7, 0xab, 0x1e]), rawKey)

export interface Case {
  readonly question: ReadQuestion
  readonly url: string
  readonly body?: unknown
  readonly bytes: Uint8Array | undefined
  readonly json?: unknown
}

export const cases: readonly Case[] = [
  {
    question: itemQuestion('3'),
    url: '/tables/0x7ab1e/item',
    body: itemBody('3'),
    bytes: pair(3n, 9n),
    json: { first: '3', second: '9' },
  },
  { question: itemQuestion('77'), url: '/tables/0x7ab1e/item', body: itemBody('77'), bytes: undefined },
  {
    question: { kind: 'raw_table_item', handle: '0x7ab1e', key: rawKey },
    url: '/tables/0x7ab1e/raw_item',
    body: { key: bytesToHex(rawKey) },
    bytes: pair(3n, 9n),
    json: bytesToHex(pair(3n, 9n)),
  },
  {
    question: resource('Score'),
    url: '/accounts/0xcafe/resource/0xcafe::game::Score',
    bytes: pair(3n, 4n),
    json: { first: '3', second: '4' },
  },
  {
    question: resource('Member'),
    url: '/accounts/0xcafe/resource/0xcafe::game::Member',
    bytes: pair(5n, 6n),
    json: { first: '5', second: '6' },
  },
  { question: resource('Missing'), url: '/accounts/0xcafe/resource/0xcafe::game::Missing', bytes: undefined },
  { question: resource('Member', '0xbeef'), url: '/accounts/0xbeef/resource/0xcafe::game::Member', bytes: undefined },
  { question: { kind: 'account', address: '0xbeef' }, url: '/accounts/0xbeef', bytes: undefined },
  {
    question: { kind: 'module', address: '0xcafe', name: 'game' },
    url: '/experimental/state_values/raw',
    body: JSON.parse(moduleRequest({ address: '0xcafe', name: 'game' }).body),
    bytes: GAME,
    json: bytesToHex(GAME),
  },
  {
    question: { kind: 'module', address: '0xcafe', name: 'other' },
    url: '/experimental/state_values/raw',
    body: JSON.parse(moduleRequest({ address: '0xcafe', name: 'other' }).body),
    bytes: undefined,
  },
  {
    question: { kind: 'module', address: '0xcafe', name: 'game' },
    url: '/accounts/0xcafe/module/game',
    bytes: GAME,
    json: bytesToHex(GAME),
  },
  {
    question: { kind: 'module', address: '0xcafe', name: 'other' },
    url: '/accounts/0xcafe/module/other',
    bytes: undefined,
  },
  {
    question: { kind: 'state_value', stateKey },
    url: '/experimental/state_values/raw',
    body: { key: bytesToHex(Uint8Array.of(1, ...stateKey.subarray(1, 33), 8, ...rawKey)) },
    bytes: encodeStateValue({ value: pair(3n, 9n), metadata: undefined }),
  },
]
