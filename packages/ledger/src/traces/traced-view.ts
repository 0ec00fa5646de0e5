import type { KeyedEntry } from '@ledger-state/core'
import type { LedgerSummary, StateEntry, StateView } from '@ledger-state/engine'
import type { ReadTrace } from './read-trace.js'

/** A view that adds each key that is read to a trace. A cache that answers without a read must add its keys itself. */
export class TracedView implements StateView {
  readonly version: bigint
  readonly #inner: StateView
  readonly #trace: ReadTrace

  constructor(inner: StateView, trace: ReadTrace) {
    this.version = inner.version
    this.#inner = inner
    this.#trace = trace
  }

  get ledger(): LedgerSummary {
    return this.#inner.ledger
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#trace.add(key)
    return this.#inner.get(key)
  }

  peek(key: Uint8Array): Uint8Array | undefined {
    this.#trace.add(key)
    return this.#inner.peek(key)
  }

  getEntry(key: Uint8Array): StateEntry | undefined {
    this.#trace.add(key)
    return this.#inner.getEntry(key)
  }

  scan(): Iterable<KeyedEntry> {
    throw new Error('a trace has keys, and no ranges of keys')
  }
}
