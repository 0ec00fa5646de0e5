const LOOK_UP = 'one look-up of a key with ten versions'

/** What is counted: `counts` are the lengths of a short and a long run. */
export const OPERATIONS = [
  { name: 'look-up', title: LOOK_UP, role: 'ours', counts: [20_000, 60_000] },
  { name: 'look-up in the table', title: LOOK_UP, role: 'ours', counts: [20_000, 60_000] },
  { name: 'getBinary of bare lmdb', title: LOOK_UP, role: 'floor', counts: [20_000, 60_000] },
  {
    name: 'write',
    title: 'one write, in batches of 20 versions × 5, with its share of merges',
    role: 'ours',
    counts: [5_000, 15_000],
  },
  { name: 'GET balance', title: 'one request', role: 'ours', counts: [2_000, 6_000] },
  { name: 'POST item', title: 'one request', role: 'ours', counts: [2_000, 6_000] },
] as const

export type OperationName = (typeof OPERATIONS)[number]['name']

export function isRequest(operation: OperationName): boolean {
  return operation === 'GET balance' || operation === 'POST item'
}
