/** What is counted. `floor` is the least that the operation before it could cost. */
export const OPERATIONS = [
  { name: 'look-up', title: 'one look-up, at a past version of ten', role: 'ours', counts: [10_000, 30_000] },
  { name: 'bare look-up', title: 'one look-up, at a past version of ten', role: 'floor', counts: [10_000, 30_000] },
  { name: 'write', title: 'one write, in batches of 20 versions × 5', role: 'ours', counts: [4_000, 12_000] },
  { name: 'bare write', title: 'one write, in batches of 20 versions × 5', role: 'floor', counts: [4_000, 12_000] },
  { name: 'GET balance', title: 'GET balance', role: 'ours', counts: [1_000, 3_000] },
  { name: 'POST item', title: 'POST item', role: 'ours', counts: [1_000, 3_000] },
] as const

export type Operation = (typeof OPERATIONS)[number]
export type OperationName = Operation['name']

export const REQUESTS = ['GET balance', 'POST item'] as const satisfies readonly OperationName[]
