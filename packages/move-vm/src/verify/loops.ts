import { malformedCode } from '../faults/vm-fault.js'
import type { Block } from './control-flow.js'

const MOST_LOOP_DEPTH = 5

/**
 * Expects that each loop is entered at one block only (that control flow is reducible), and that loops are not nested
 * too deeply. Modules of version 5 of the binary format are held to this rule of later versions, as the answers of a real VM
 * in the conformance kit want it. See R. Tarjan, Testing Flow Graph Reducibility, 1974.
 * @throws VmFault
 */
export function* expectReducible(blocks: readonly Block[]): Generator<void, void, void> {
  const { nodes, blockOf } = spanningTree(blocks)
  const loops = new LoopPartition(nodes.length)
  for (let head = nodes.length - 1; head >= 0; head--) {
    const { backs, lastDescendant } = nodes[head]!
    if (backs.length === 0) continue
    const body = new Set<number>()
    for (const back of backs) {
      const node = loops.containing(back)
      if (node !== head) body.add(node)
    }
    // The set grows while it is visited.
    for (const node of body) {
      for (const one of nodes[node]!.predecessors) {
        const predecessor = loops.containing(one)
        if (predecessor < head || predecessor > lastDescendant) {
          throw malformedCode(`a loop with two entries at ${blocks[blockOf[predecessor]!]!.start}`)
        }
        if (predecessor !== head) body.add(predecessor)
      }
    }
    if (loops.collapse(head, body) > MOST_LOOP_DEPTH) throw malformedCode(`loops deeper than ${MOST_LOOP_DEPTH}`)
    yield
  }
}

/** A block that control may reach, numbered in the order of a depth-first search. */
interface TreeNode {
  /** Sources of edges from below, which make loops. */
  readonly backs: number[]
  /** Sources of all other edges. */
  readonly predecessors: number[]
  /** The last node below, or the node itself. All numbers in between are below. */
  lastDescendant: number
}

function spanningTree(blocks: readonly Block[]): { nodes: readonly TreeNode[]; blockOf: readonly number[] } {
  const nodes: TreeNode[] = []
  const blockOf: number[] = []
  const nodeOf = new Map<number, number>()
  const finished = new Set<number>()
  const visit = (block: number): number => {
    const node = nodes.push({ backs: [], predecessors: [], lastDescendant: nodes.length }) - 1
    blockOf.push(block)
    nodeOf.set(block, node)
    return node
  }
  type Action = { readonly from: number; readonly to: number } | { readonly finish: number }
  const actions: Action[] = []
  const explore = (from: number) => {
    for (const to of blocks[blockOf[from]!]!.successors) actions.push({ from, to })
  }
  explore(visit(0))
  for (let action = actions.pop(); action; action = actions.pop()) {
    if ('finish' in action) {
      nodes[action.finish]!.lastDescendant = nodes.length - 1
      finished.add(action.finish)
      continue
    }
    const { from, to } = action
    const known = nodeOf.get(to)
    if (known !== undefined) {
      const { backs, predecessors } = nodes[known]!
      ;(finished.has(known) ? predecessors : backs).push(from)
      continue
    }
    const node = visit(to)
    nodes[node]!.predecessors.push(from)
    actions.push({ finish: node })
    explore(node)
  }
  nodes[0]!.lastDescendant = nodes.length - 1
  return { nodes, blockOf }
}

/** Loops that were found so far, each collapsed into its head. */
class LoopPartition {
  readonly #parents: number[]
  readonly #depths: Uint16Array

  constructor(count: number) {
    this.#parents = Array.from({ length: count }, (_, node) => node)
    this.#depths = new Uint16Array(count)
  }

  /** The head of the outermost loop found so far that contains a node; the node itself if none does. */
  containing(node: number): number {
    const parents = this.#parents
    let head = node
    while (parents[head] !== head) head = parents[head]!
    for (let at = node; at !== head; ) {
      const parent = parents[at]!
      parents[at] = head
      at = parent
    }
    return head
  }

  /** Collapses a loop. Returns how deep loops are nested in it, itself included. */
  collapse(head: number, body: ReadonlySet<number>): number {
    let depth = this.#depths[head]!
    for (const node of body) {
      this.#parents[node] = head
      depth = Math.max(depth, this.#depths[node]!)
    }
    this.#depths[head] = depth + 1
    return depth + 1
  }
}
