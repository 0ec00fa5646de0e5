import type { VersionWrites } from '@ledger-state/core'
import { branchOf, type StateEngineReader } from '@ledger-state/engine'
import { isOwnKey } from '@ledger-state/records'
import type { ChangeCursor, ChangePage, ChangeSource } from './change-source.js'

/** Bytes and versions after which a page ends. */
const PAGE = { bytes: 256 << 10, versions: 1_000 }

/**
 * Reads changes from an engine in the calling thread. A range that is merged costs a pass over all keys, so open the
 * engine of a large store in a thread of its own.
 * @example
 * ```ts
 * import { createEngineChanges, createHttpServer } from '@ledger-state/http'
 * import { createLedger } from '@ledger-state/ledger'
 * import { createMemoryEngine } from '@ledger-state/engine'
 *
 * const engine = createMemoryEngine()
 * const server = createHttpServer({ ledger: createLedger(engine), changes: createEngineChanges(engine) })
 * ```
 */
export function createEngineChanges(engine: StateEngineReader): ChangeSource {
  return { open: () => new EngineCursor(engine) }
}

class EngineCursor implements ChangeCursor {
  readonly #engine: StateEngineReader
  #range: OpenRange | undefined

  constructor(engine: StateEngineReader) {
    this.#engine = engine
  }

  async read(first: bigint, last: bigint): Promise<ChangePage> {
    try {
      return this.#read(first, last)
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    this.#range?.versions.return?.()
    this.#range = undefined
  }

  #read(first: bigint, last: bigint): ChangePage {
    if (this.#range?.next !== first || this.#range.last > last) {
      this.close()
      this.#range = openRange(this.#engine, first, last)
    }
    const range = this.#range
    if (!range) return { versions: [], branch: 0 }
    const versions: VersionWrites[] = []
    let bytes = 0
    while (bytes < PAGE.bytes && versions.length < PAGE.versions) {
      const { done, value } = range.versions.next()
      if (done) break
      const writes = value.writes.filter(([key]) => !isOwnKey(key))
      for (const [key, written] of writes) bytes += key.length + (written?.length ?? 0)
      versions.push({ ...value, writes })
      range.next = value.version + 1n
    }
    if (range.next > range.last) this.close()
    return { versions, branch: range.branch }
  }
}

interface OpenRange {
  readonly versions: Iterator<VersionWrites>
  readonly last: bigint
  readonly branch: number
  next: bigint
}

/** Begins a range of one branch: a truncation that cuts off a version of it ends the iteration with an error. */
function openRange(engine: StateEngineReader, first: bigint, last: bigint): OpenRange | undefined {
  for (;;) {
    const { ledger } = engine
    if (!ledger || ledger.latestVersion < first) return undefined
    const end = last < ledger.latestVersion ? last : ledger.latestVersion
    const versions = engine.versions(first, end)[Symbol.iterator]()
    const branch = branchOf(ledger)
    // Another process may have cut off versions meanwhile.
    if (branchOf(engine.ledger!) === branch) return { versions, last: end, branch, next: first }
  }
}
