/** A member's place in a list. */
export interface Link<T> {
  readonly value: T
}

interface ListLink<T> extends Link<T> {
  before: ListLink<T> | undefined
  after: ListLink<T> | undefined
}

/**
 * Members in the order in which they came, each of which can leave at any time. For what comes and goes with every
 * request: V8 makes the tables of an old Set or Map anew in the old generation again and again, and what an abandoned
 * table names, such as sockets with all that they lead to, stays until the next collection of that generation.
 */
export class LinkedList<T> {
  #first: ListLink<T> | undefined
  #last: ListLink<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The member that has been here for longest. */
  get first(): T | undefined {
    return this.#first?.value
  }

  /** Adds a member at the end; its link removes it again. */
  append(value: T): Link<T> {
    const link: ListLink<T> = { value, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = link
    else this.#first = link
    this.#last = link
    this.#size++
    return link
  }

  /** Takes a link of this list, once. */
  remove(link: Link<T>): void {
    const one = link as ListLink<T>
    const { before, after } = one
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    // A link that is old already would keep its neighbours.
    one.before = undefined
    one.after = undefined
    this.#size--
  }

  /** Members that leave meanwhile may be passed or not. */
  *[Symbol.iterator](): Generator<T> {
    for (let link = this.#first; link; ) {
      const { after } = link
      yield link.value
      link = after
    }
  }
}
