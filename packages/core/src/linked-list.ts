/** A member's place in a list. */
export interface Link<T> {
  readonly value: T
}

interface ListLink<T> extends Link<T> {
  before: ListLink<T> | undefined
  after: ListLink<T> | undefined
}

/**
 * A list in order of arrival. Each member can leave at any time. It is for members that come and go with every request:
 * V8 rebuilds the table of a long-lived Set or Map in the old generation again and again, and whatever an abandoned
 * table refers to, such as sockets and all that they lead to, stays until the next collection of that generation.
 */
export class LinkedList<T> {
  #first: ListLink<T> | undefined
  #last: ListLink<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The member that arrived first. */
  get first(): T | undefined {
    return this.#first?.value
  }

  /** Appends a member; its link removes it again. */
  append(value: T): Link<T> {
    const link: ListLink<T> = { value, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = link
    else this.#first = link
    this.#last = link
    this.#size++
    return link
  }

  /** Removes the member of a link of this list. Each link may be removed once. */
  remove(link: Link<T>): void {
    const one = link as ListLink<T>
    const { before, after } = one
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    // A removed link in the old generation would keep its neighbours alive.
    one.before = undefined
    one.after = undefined
    this.#size--
  }

  /** Iterates over the members. A member that leaves during the iteration may or may not be visited. */
  *[Symbol.iterator](): Generator<T> {
    for (let link = this.#first; link; ) {
      const { after } = link
      yield link.value
      link = after
    }
  }
}
