import { type ModuleCode, opcodeNameOf, type SignatureToken } from '@ledger-state/move-module'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import { visitTypes } from './visit-types.js'

/** Most edges of the graph: our limit, a millisecond for each of the modules that a view may load. */
const MOST_EDGES = 4_096
const STEP = 256

/**
 * Expects that no generic functions of a module call each other with ever larger type arguments, as `f<T>` that calls
 * `f<vector<T>>` does. The nodes of a graph are the type parameters of functions. A call has an edge from each type
 * parameter of the caller to those of the called function whose argument contains it; it grows unless the argument is
 * the type parameter itself. No cycle may have an edge that grows. It yields the work of the next step.
 * @throws VmFault
 */
export function* verifyInstantiations(code: ModuleCode): Generator<number, void, void> {
  const graph = new Graph()
  const nodesOf = new Map<string, { readonly first: number; readonly count: number }>()
  let nodes = 0
  for (const [at, { name, typeParameters, code: body }] of code.functions.entries()) {
    if (at % STEP === 0) yield STEP
    const count = typeParameters.length
    if (body) nodesOf.set(name, { first: nodes, count })
    nodes += count
  }
  if (nodes === 0) return
  const flows = new Map<number, readonly Flow[]>()
  for (const { name, code: body } of code.functions) {
    const caller = nodesOf.get(name)
    // A function without type parameters passes none on.
    if (!body || !caller?.count) continue
    const { opcodes, operands } = body
    const called = new Set<number>()
    for (let at = 0; at < opcodes.length; at++) {
      if (at % STEP === 0) yield STEP
      if (opcodeNameOf(opcodes[at]!) === 'call_generic') called.add(operands[at]!)
    }
    for (const index of called) {
      const instantiation = code.functionInstantiations[index]
      if (!instantiation) continue
      const handle = code.functionHandles[instantiation.of]!
      const callee = handle.module === code.self ? nodesOf.get(handle.name) : undefined
      if (callee === undefined) continue
      let found = flows.get(index)
      if (!found) {
        yield instantiation.typeArguments.length
        found = yield* flowsOf(instantiation.typeArguments)
        flows.set(index, found)
      }
      yield found.length
      for (const { from, to, grows } of found) {
        // The code is not verified yet: it may name type parameters that the functions do not have.
        if (from < caller.count && to < callee.count) graph.add(caller.first + from, callee.first + to, grows)
      }
    }
  }
  yield* expectNoGrowth(graph, nodes)
}

/** A type parameter of a caller that an argument has, and the type parameter of the called function that it is for. */
interface Flow {
  readonly from: number
  readonly to: number
  readonly grows: boolean
}

function* flowsOf(typeArguments: readonly SignatureToken[]): Generator<number, readonly Flow[], void> {
  const flows: Flow[] = []
  for (const [to, type] of typeArguments.entries()) {
    if (type.kind === 'typeParameter') flows.push({ from: type.index, to, grows: false })
    else {
      const found = new Set<number>()
      yield visitTypes(type, (part) => {
        if (part.kind === 'typeParameter') found.add(part.index)
      })
      for (const from of found) flows.push({ from, to, grows: true })
    }
    if (flows.length > MOST_EDGES) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
  }
  return flows
}

interface Edge {
  readonly to: number
  readonly grows: boolean
}

class Graph {
  readonly #edges = new Map<number, Edge[]>()
  #count = 0

  add(from: number, to: number, grows: boolean): void {
    if (++this.#count > MOST_EDGES) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
    const known = this.#edges.get(from)
    if (known) known.push({ to, grows })
    else this.#edges.set(from, [{ to, grows }])
  }

  of(node: number): readonly Edge[] {
    return this.#edges.get(node) ?? []
  }

  get nodes(): Iterable<number> {
    return this.#edges.keys()
  }
}

/** Tarjan's algorithm, without recursion: an edge that grows must lead to another strongly connected component. */
function* expectNoGrowth(graph: Graph, nodes: number): Generator<number, void, void> {
  yield nodes
  /** Order of discovery, beginning with 1. */
  const orders = new Uint32Array(nodes)
  const lows = new Uint32Array(nodes)
  const components = new Uint32Array(nodes)
  const open: number[] = []
  let order = 0
  let component = 0
  let work = 0
  for (const start of graph.nodes) {
    if (orders[start] !== 0) continue
    const path: { readonly node: number; next: number }[] = []
    const visit = (node: number) => {
      orders[node] = lows[node] = ++order
      open.push(node)
      path.push({ node, next: 0 })
    }
    visit(start)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      if (++work % STEP === 0) yield STEP
      const { node } = top
      const edge = graph.of(node)[top.next++]
      if (edge) {
        const { to } = edge
        if (orders[to] === 0) visit(to)
        else if (components[to] === 0) lows[node] = Math.min(lows[node]!, orders[to]!)
        continue
      }
      path.pop()
      const above = path.at(-1)
      if (above) lows[above.node] = Math.min(lows[above.node]!, lows[node]!)
      if (lows[node] !== orders[node]) continue
      component++
      for (let member = -1; member !== node; ) {
        member = open.pop()!
        components[member] = component
      }
    }
  }
  for (const node of graph.nodes) {
    yield graph.of(node).length
    for (const { to, grows } of graph.of(node)) {
      if (grows && components[to] === components[node])
        throw malformedCode('a generic function that calls itself with ever larger types')
    }
  }
}
