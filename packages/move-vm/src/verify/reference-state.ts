import { malformedCode } from '../faults/vm-fault.js'
import { BorrowGraph, type GraphMeter, globalLabel, localLabel } from './borrow-graph.js'

/** An operand or local that is no reference. References are numbers, beginning with 0. */
export const NO_REFERENCE = -1

/** Whether a type is a reference, and which. */
export type ReferenceKind = 'mutable' | 'immutable' | undefined

/** All references of a function at one place of its code: those in locals, those on the stack, and their borrows. */
export class ReferenceState {
  readonly locals: Int32Array
  readonly graph: BorrowGraph
  #next: number

  /** The state at the beginning of a function with these types of parameters. */
  static initial(localCount: number, parameters: readonly ReferenceKind[], meter: GraphMeter): ReferenceState {
    const graph = new BorrowGraph(meter)
    const locals = new Int32Array(localCount).fill(NO_REFERENCE)
    for (const [local, kind] of parameters.entries()) {
      if (!kind) continue
      graph.add(local, kind === 'mutable')
      locals[local] = local
    }
    graph.add(localCount, true)
    return new ReferenceState(locals, graph)
  }

  constructor(locals: Int32Array, graph: BorrowGraph) {
    this.locals = locals
    this.graph = graph
    // The references in locals have the numbers of the locals, and the frame has the next one.
    this.#next = locals.length + 1
  }

  copy(): ReferenceState {
    return new ReferenceState(this.locals.slice(), this.graph.copy())
  }

  /** The state with the numbers of references that every state has at the border of a block. It must not change later. */
  atBorder(): ReferenceState {
    if (this.locals.every((id, local) => id === NO_REFERENCE || id === local)) {
      this.graph.chargeCopy()
      return this
    }
    const numbers = new Map<number, number>()
    const locals = this.locals.map((id, local) => {
      if (id === NO_REFERENCE) return NO_REFERENCE
      numbers.set(id, local)
      return local
    })
    return new ReferenceState(locals, this.graph.renumbered(numbers))
  }

  /** The state that covers this one and another one; undefined if this one does. */
  joined(other: ReferenceState): ReferenceState | undefined {
    let graph = this.graph.copy()
    let otherGraph = other.graph
    let isChanged = false
    const locals = this.locals.slice()
    for (let local = 0; local < locals.length; local++) {
      const [own, others] = [this.locals[local]!, other.locals[local]!]
      if (own === others) continue
      if (own === NO_REFERENCE) {
        if (otherGraph === other.graph) otherGraph = otherGraph.copy()
        otherGraph.release(others)
      } else {
        graph.release(own)
        locals[local] = NO_REFERENCE
        isChanged = true
      }
    }
    graph = graph.joined(otherGraph)
    return isChanged || !this.graph.covers(graph) ? new ReferenceState(locals, graph) : undefined
  }

  get #frame(): number {
    return this.locals.length
  }

  /** A new reference. */
  make(isMutable: boolean): number {
    const id = this.#next++
    this.graph.add(id, isMutable)
    return id
  }

  release(id: number): void {
    if (id !== NO_REFERENCE) this.graph.release(id)
  }

  copyLocal(local: number, at: number): number {
    const id = this.locals[local]!
    if (id === NO_REFERENCE) {
      if (this.#isBorrowed(localLabel(local), true)) throw malformedCode(`a copy of a borrowed local at ${at}`)
      return NO_REFERENCE
    }
    const copy = this.make(this.graph.isMutable(id))
    this.graph.addStrong(id, copy)
    return copy
  }

  moveLocal(local: number, at: number): number {
    const id = this.locals[local]!
    this.locals[local] = NO_REFERENCE
    if (id === NO_REFERENCE && this.#isBorrowed(localLabel(local))) {
      throw malformedCode(`a move of a borrowed local at ${at}`)
    }
    return id
  }

  storeLocal(local: number, id: number, at: number): void {
    const old = this.locals[local]!
    this.locals[local] = id
    if (old === NO_REFERENCE && this.#isBorrowed(localLabel(local))) {
      throw malformedCode(`a borrowed local that is overwritten at ${at}`)
    }
    this.release(old)
  }

  borrowLocal(local: number, isMutable: boolean, at: number): number {
    if (!isMutable && this.#isBorrowed(localLabel(local), true)) {
      throw malformedCode(`a local that is borrowed mutably already at ${at}`)
    }
    const id = this.make(isMutable)
    this.graph.addStrong(this.#frame, id, localLabel(local))
    return id
  }

  borrowGlobal(struct: number, isMutable: boolean, at: number): number {
    this.#expectFreeGlobal(struct, at, !isMutable)
    const id = this.make(isMutable)
    this.graph.addWeak(this.#frame, id, globalLabel(struct))
    return id
  }

  moveFrom(struct: number, at: number): void {
    this.#expectFreeGlobal(struct, at)
  }

  #expectFreeGlobal(struct: number, at: number, onlyMutably = false): void {
    if (this.#isBorrowed(globalLabel(struct), onlyMutably)) throw malformedCode(`a borrowed resource at ${at}`)
  }

  borrowField(id: number, label: string, isMutable: boolean, at: number): number {
    const isFree = isMutable
      ? this.#expectMutable(id, at) && !this.graph.isBorrowed(id, '')
      : this.#isReadable(id, label)
    if (!isFree) throw malformedCode(`a field that is borrowed already at ${at}`)
    const field = this.make(isMutable)
    this.graph.addStrong(id, field, label)
    this.graph.release(id)
    return field
  }

  borrowElement(id: number, isMutable: boolean, at: number): number {
    if (isMutable) this.#expectWritable(id, at)
    const element = this.make(isMutable)
    this.graph.addWeak(id, element)
    this.graph.release(id)
    return element
  }

  freeze(id: number, at: number): number {
    this.#expectMutable(id, at)
    if (!this.#isReadable(id)) throw malformedCode(`a reference that is borrowed mutably at ${at}`)
    const frozen = this.make(false)
    this.graph.addStrong(id, frozen)
    this.graph.release(id)
    return frozen
  }

  /** Reads through a reference, which ends with that. */
  read(id: number, at: number): void {
    this.expectReadable(id, at)
    this.graph.release(id)
  }

  expectReadable(id: number, at: number): void {
    if (!this.#isReadable(id)) throw malformedCode(`a read of a mutably borrowed value at ${at}`)
  }

  /** Writes through a reference, which ends with that. */
  write(id: number, at: number): void {
    this.#expectWritable(id, at)
    this.graph.release(id)
  }

  /** Calls a function. Results that are references may borrow from all arguments that are. */
  call(
    args: readonly number[],
    acquired: readonly number[],
    results: readonly ReferenceKind[],
    chargeEdges: (count: number) => void,
    at: number,
  ): readonly number[] {
    for (const struct of acquired) this.#expectFreeGlobal(struct, at)
    const references = args.filter((id) => id !== NO_REFERENCE)
    const mutable = references.filter((id) => this.graph.isMutable(id))
    for (const id of mutable) this.#expectWritable(id, at)
    chargeEdges(references.length * results.filter((kind) => kind !== undefined).length)
    const made = results.map((kind) => {
      if (!kind) return NO_REFERENCE
      const id = this.make(kind === 'mutable')
      for (const parent of kind === 'mutable' ? mutable : references) this.graph.addWeak(parent, id)
      return id
    })
    for (const id of references) this.graph.release(id)
    return made
  }

  /** Returns from the function. Nothing may borrow from its locals or from resources any more. */
  return(results: readonly number[], at: number): void {
    for (const id of this.locals) this.release(id)
    if (this.graph.isBorrowed(this.#frame)) throw malformedCode(`a reference to a local or resource returned at ${at}`)
    for (const id of results) {
      if (id !== NO_REFERENCE && this.graph.isMutable(id)) this.#expectWritable(id, at)
    }
  }

  #isBorrowed(label: string, onlyMutably = false): boolean {
    return this.graph.isBorrowed(this.#frame, label, onlyMutably)
  }

  #isReadable(id: number, label?: string): boolean {
    return !this.graph.isMutable(id) || !this.graph.isBorrowed(id, label, true)
  }

  #expectMutable(id: number, at: number): true {
    if (!this.graph.isMutable(id)) throw malformedCode(`an immutable reference at ${at}`)
    return true
  }

  #expectWritable(id: number, at: number): void {
    this.#expectMutable(id, at)
    if (this.graph.isBorrowed(id)) throw malformedCode(`a mutable reference to a borrowed value at ${at}`)
  }
}
