// Everything that a client can ask a node of the made-up ledgers for, with the results.
import { verifyBalance } from '../src/verify-balance.ts'
import { verifyResource, verifyTableItem } from '../src/verify-state.ts'
import { verifyEvent, verifyTransaction } from '../src/verify-transaction.ts'
import { verifyView } from '../src/verify-view.ts'
import { APT, HOLDERS } from './asset-writes.ts'

const FUNCTIONS = { verifyBalance, verifyResource, verifyTableItem, verifyTransaction, verifyEvent, verifyView }

/** A call of a function of the package, without the URL. Versions and numbers are texts. */
export type NodeCall = readonly [
  name: keyof typeof FUNCTIONS,
  options: Readonly<Record<string, unknown>>,
  result: unknown,
]

/** Calls a function with further options, such as the URL. */
export async function callNode([name, options]: NodeCall, further: object): Promise<unknown> {
  const verify = FUNCTIONS[name] as unknown as (options: object) => Promise<unknown>
  return await verify({ ...options, ...further })
}

/** Calls about state, and their results as far as they are known beforehand. */
export function stateCalls(waypoint: string): NodeCall[] {
  const resource = (type: string, address = '0xcafe') => ({ waypoint, address, type: `0xcafe::game::${type}` })
  const item = (key: unknown) => {
    return { waypoint, handle: '0x7ab1e', keyType: 'u64', valueType: '0xcafe::game::Score', key }
  }
  const view = (name: string, ...args: string[]) => {
    return { waypoint, function: `0x42::main::${name}`, arguments: args }
  }
  return [
    ['verifyResource', resource('Score'), { json: '{"first":"3","second":"4"}' }],
    ['verifyResource', resource('Member'), { json: '{"first":"5","second":"6"}' }],
    ['verifyResource', resource('Missing'), { json: undefined }],
    ['verifyTableItem', item('3'), { json: '{"first":"3","second":"9"}' }],
    ['verifyTableItem', item('77'), { json: undefined }],
    ...HOLDERS.map(({ address, coinStore, primaryStore }): NodeCall => {
      const balance = (coinStore ?? 0n) + (primaryStore ?? 0n)
      return ['verifyBalance', { waypoint, address, asset: APT }, { balance, coinStore, primaryStore }]
    }),
    ['verifyBalance', { waypoint, address: '0xb07', asset: '0xa' }, { balance: 7n, coinStore: undefined }],
    ['verifyView', view('value', '0xa1'), { results: [{ json: '"11"' }] }],
    ['verifyView', view('either', '0xa1', '0xa2'), { results: [{ json: '"44"' }] }],
    ['verifyView', view('holds', '0xa3'), { results: [{ json: 'false' }] }],
    ['verifyView', view('point'), { results: [{ json: '{"x":"1"}' }] }],
  ]
}

/** Calls about transactions and events. */
export function transactionCalls(waypoint: string, eventAt: bigint): NodeCall[] {
  const question = { kind: 'type', type: 'vector<u64>' }
  return [
    ['verifyTransaction', { waypoint, version: 21n }, { version: 21n }],
    ['verifyEvent', { waypoint, question, version: eventAt }, { version: eventAt }],
  ]
}

/** JSON with 64-bit integers and bytes, for a browser. */
export function callToText(call: NodeCall): string {
  return JSON.stringify(call, (_, one) => (typeof one === 'bigint' ? { u64: String(one) } : one))
}

export function textToCall(text: string): NodeCall {
  return JSON.parse(text, (_, one) => (typeof one?.u64 === 'string' ? BigInt(one.u64) : one)) as NodeCall
}
