/**
 * Labels of the edges of a borrow graph: a path is a string of them. Those of the locals and of the structs in global
 * storage are only at the beginning of paths from the frame.
 */
export const fieldLabel = (field: number): string => String.fromCharCode(field)
export const localLabel = (local: number): string => String.fromCharCode(FIRST_LOCAL + local)
export const globalLabel = (struct: number): string => String.fromCharCode(FIRST_GLOBAL + struct)
const FIRST_LOCAL = 256
const FIRST_GLOBAL = 512

/** First character of an edge; the path follows. */
const STRONG = '='
/** The edge leads to the end of its path or to anything below. */
const WEAK = '~'

/** All edges between two references. If there are more than ten, one weak edge without a path takes their place. */
interface Edges {
  readonly edges: Set<string>
  isOverfull: boolean
}
const MOST_EDGES = 10

interface Node {
  readonly isMutable: boolean
  readonly borrowedBy: Map<number, Edges>
  readonly borrowsFrom: Set<number>
}

/** The work of changing a graph, in edges that are made or moved. */
export interface GraphMeter {
  /** @throws VmFault if the budget is exhausted */
  charge(work: number): void
}

/**
 * Which references borrow from which, and by which path of fields: a graph of references, named by numbers. It is the
 * graph of the reference: each operation keeps and forgets the same edges.
 */
export class BorrowGraph {
  readonly #nodes: Map<number, Node>
  readonly #meter: GraphMeter
  #edges: number

  constructor(meter: GraphMeter, nodes = new Map<number, Node>(), edges = 0) {
    this.#meter = meter
    this.#nodes = nodes
    this.#edges = edges
  }

  /** Number of references and edges. */
  get size(): number {
    return this.#nodes.size + this.#edges
  }

  /** Charges the work of a copy. A copy that turns out to be needless is charged, too. */
  chargeCopy(): void {
    this.#meter.charge(this.size)
  }

  copy(): BorrowGraph {
    return this.renumbered(new Map())
  }

  /** A copy in which references have new numbers; those that `numbers` lacks keep theirs. */
  renumbered(numbers: ReadonlyMap<number, number>): BorrowGraph {
    this.chargeCopy()
    const numberOf = (id: number) => numbers.get(id) ?? id
    const nodes = new Map<number, Node>()
    for (const [id, { isMutable, borrowedBy, borrowsFrom }] of this.#nodes) {
      const copied = new Map<number, Edges>()
      for (const [child, { edges, isOverfull }] of borrowedBy) {
        copied.set(numberOf(child), { edges: new Set(edges), isOverfull })
      }
      nodes.set(numberOf(id), { isMutable, borrowedBy: copied, borrowsFrom: new Set([...borrowsFrom].map(numberOf)) })
    }
    return new BorrowGraph(this.#meter, nodes, this.#edges)
  }

  add(id: number, isMutable: boolean): void {
    this.#nodes.set(id, { isMutable, borrowedBy: new Map(), borrowsFrom: new Set() })
  }

  isMutable(id: number): boolean {
    return this.#node(id).isMutable
  }

  /**
   * Whether a reference is borrowed as a whole, or by a path that begins with a label. Without a label, any path
   * counts; with the empty one, none does. With `onlyMutably`, borrows by immutable references do not count.
   */
  isBorrowed(id: number, label?: string, onlyMutably = false): boolean {
    for (const [child, { edges }] of this.#node(id).borrowedBy) {
      if (onlyMutably && !this.isMutable(child)) continue
      for (const edge of edges) {
        if (edge.length === 1 || label === undefined || edge[1] === label) return true
      }
    }
    return false
  }

  /**
   * Adds a borrow of exactly the place at the end of a path. References that were borrowed by longer paths are then
   * borrowed from the new reference.
   */
  addStrong(parent: number, child: number, path = ''): void {
    const { borrowedBy } = this.#node(parent)
    for (const [other, known] of borrowedBy) {
      for (const edge of [...known.edges]) {
        if (!edge.startsWith(path, 1)) continue
        known.edges.delete(edge)
        this.#edges--
        this.#addEdge(child, other, edge[0]! + edge.slice(1 + path.length))
      }
      if (known.edges.size > 0) continue
      borrowedBy.delete(other)
      this.#node(other).borrowsFrom.delete(parent)
    }
    this.#addEdge(parent, child, STRONG + path)
  }

  /** Adds a borrow of anything at the end of a path or below. */
  addWeak(parent: number, child: number, path = ''): void {
    this.#addEdge(parent, child, WEAK + path)
  }

  #node(id: number): Node {
    return this.#nodes.get(id)!
  }

  #addEdge(parent: number, child: number, edge: string): void {
    const { borrowedBy } = this.#node(parent)
    let known = borrowedBy.get(child)
    if (!known) {
      known = { edges: new Set(), isOverfull: false }
      borrowedBy.set(child, known)
      this.#node(child).borrowsFrom.add(parent)
    }
    if (known.isOverfull) return
    const { edges } = known
    this.#edges -= edges.size
    if (edges.size === MOST_EDGES) {
      edges.clear()
      edges.add(WEAK)
      known.isOverfull = true
    } else edges.add(edge)
    this.#edges += edges.size
  }

  /** Removes a reference. Its borrowers then borrow from its lenders. */
  release(id: number): void {
    const { borrowedBy, borrowsFrom } = this.#node(id)
    this.#nodes.delete(id)
    let outgoing = 0
    for (const { edges } of borrowedBy.values()) outgoing += edges.size
    this.#edges -= outgoing
    for (const parent of borrowsFrom) {
      const fromParent = this.#node(parent).borrowedBy.get(id)!.edges
      this.#node(parent).borrowedBy.delete(id)
      this.#edges -= fromParent.size
      this.#meter.charge(fromParent.size * outgoing)
      for (const first of fromParent) {
        for (const [child, { edges }] of borrowedBy) {
          if (child !== parent) for (const second of edges) this.#addEdge(parent, child, joinedEdge(first, second))
        }
      }
    }
    for (const child of borrowedBy.keys()) this.#node(child).borrowsFrom.delete(id)
  }

  /** Whether each edge of another graph over the same references is covered by one of this graph. */
  covers(other: BorrowGraph): boolean {
    for (const _ of this.#uncovered(other)) return false
    return true
  }

  /** The graph with all edges of this one and of another one over the same references. */
  joined(other: BorrowGraph): BorrowGraph {
    const joined = this.copy()
    for (const [parent, child, edge] of this.#uncovered(other)) joined.#addEdge(parent, child, edge)
    return joined
  }

  *#uncovered(other: BorrowGraph): Iterable<readonly [parent: number, child: number, edge: string]> {
    this.#meter.charge(other.size)
    for (const [parent, { borrowedBy }] of other.#nodes) {
      const own = this.#node(parent).borrowedBy
      for (const [child, { edges }] of borrowedBy) {
        const known = own.get(child)?.edges
        for (const edge of edges) if (!known || !covers(known, edge)) yield [parent, child, edge]
      }
    }
  }
}

/** The edge from the beginning of one edge to the end of another that follows it. */
function joinedEdge(first: string, second: string): string {
  if (first[0] === WEAK) return first
  return second[0]! + first.slice(1) + second.slice(1)
}

function covers(known: ReadonlySet<string>, edge: string): boolean {
  if (known.has(edge)) return true
  for (const one of known) if (one[0] === WEAK && edge.startsWith(one.slice(1), 1)) return true
  return false
}
