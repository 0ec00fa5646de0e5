/**
 * Waiting connections. The addresses of clients take turns, one connection each, so a client with a thousand
 * connections delays others by one. Connections of an address keep their order.
 */
export class WaitingConnections<T extends { readonly address: string }> {
  /** Connections by address; the address with the next turn comes first. */
  readonly #byAddress = new Map<string, Set<T>>()

  add(connection: T): void {
    const { address } = connection
    const queue = this.#byAddress.get(address)
    if (queue) queue.add(connection)
    else this.#byAddress.set(address, new Set([connection]))
  }

  /** Removes a connection that had its turn. The next turn of its address comes after the turns of all others. */
  take(connection: T): void {
    const { address } = connection
    const queue = this.#byAddress.get(address)
    if (!queue?.delete(connection)) return
    this.#byAddress.delete(address)
    if (queue.size > 0) this.#byAddress.set(address, queue)
  }

  /** Removes a connection that waits no longer. */
  delete(connection: T): void {
    const queue = this.#byAddress.get(connection.address)
    if (queue?.delete(connection) && queue.size === 0) this.#byAddress.delete(connection.address)
  }

  /** The newest connection of the address that has the most; undefined if none waits. */
  newestOfTheMost(): T | undefined {
    let most: Set<T> | undefined
    for (const queue of this.#byAddress.values()) if (!most || queue.size > most.size) most = queue
    return most && [...most].at(-1)
  }

  /** Yields connections in round-robin order. The caller may remove the last one before it asks for the next. */
  *[Symbol.iterator](): Generator<T> {
    let round: Iterable<Iterator<T>> = this.#iterators()
    for (let isOver = false; !isOver; ) {
      const next: Iterator<T>[] = []
      for (const queue of round) {
        const { value, done } = queue.next()
        if (done) continue
        next.push(queue)
        yield value
      }
      round = next
      isOver = next.length === 0
    }
  }

  *#iterators(): Generator<Iterator<T>> {
    for (const address of [...this.#byAddress.keys()]) {
      const queue = this.#byAddress.get(address)
      if (queue) yield queue.values()
    }
  }
}
