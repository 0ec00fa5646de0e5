/**
 * Operations that are counted: look-ups of a key with ten versions; writes in batches of 20 versions with 5 writes
 * each, and their share of merges; requests. `counts` are the lengths of a short and a long run.
 */
export const OPERATIONS = [
  { name: 'look-up', counts: [20_000, 60_000] },
  { name: 'look-up in the table', counts: [20_000, 60_000] },
  { name: 'write', counts: [10_000, 40_000] },
  { name: 'GET balance', counts: [2_000, 6_000] },
  { name: 'POST item', counts: [2_000, 6_000] },
] as const

export type OperationName = (typeof OPERATIONS)[number]['name']

export function isRequest(operation: OperationName): boolean {
  return operation === 'GET balance' || operation === 'POST item'
}
