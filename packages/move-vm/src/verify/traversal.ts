import type { Block } from './control-flow.js'

/** An order in which each block comes after those before it, apart from the ends of loops. */
export interface Traversal {
  /** The block after each block; undefined for the last one and for those that are never reached. */
  readonly next: readonly (number | undefined)[]
  /** Whether the edge between two blocks ends a round of a loop. */
  isBackEdge(from: number, to: number): boolean
}

const BEGUN = 1
const DONE = 2

/** The order of the reference: depth first, from the first block, then reversed. */
export function traversalOf(blocks: readonly Block[]): Traversal {
  const visits = new Uint8Array(blocks.length)
  const heads = new Map<number, Set<number>>()
  const order: number[] = []
  const stack = [0]
  for (let block = stack.pop(); block !== undefined; block = stack.pop()) {
    if (visits[block] === DONE) continue
    if (visits[block] === BEGUN) {
      order.push(block)
      visits[block] = DONE
      continue
    }
    visits[block] = BEGUN
    stack.push(block)
    for (const successor of blocks[block]!.successors) {
      if (visits[successor] === BEGUN) {
        const sources = heads.get(successor) ?? new Set()
        heads.set(successor, sources.add(block))
      } else if (visits[successor] !== DONE) stack.push(successor)
    }
  }
  order.reverse()
  const next: (number | undefined)[] = []
  for (const [at, block] of order.entries()) next[block] = order[at + 1]
  return { next, isBackEdge: (from, to) => heads.get(to)?.has(from) ?? false }
}
