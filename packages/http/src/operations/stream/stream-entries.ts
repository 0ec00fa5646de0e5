import type { VersionWrites } from '@ledger-state/core'
import { branchOf, nearestWrite } from '@ledger-state/engine'
import {
  type Change,
  eventsOfType,
  type LedgerState,
  type ViewAnswer,
  type ViewRequest,
  viewHistory,
} from '@ledger-state/ledger'
import type { TypeTag } from '@ledger-state/type-tag'
import { bytesOf, type SharedReader } from '../../changes/shared-changes.js'
import { changeToJson } from '../../formats/history-formats.js'
import { transactionMember, transactionsOf } from '../../formats/transaction-formats.js'
import { answerToJson } from '../../formats/view-history-formats.js'
import type { StreamHost } from '../parts/operation.js'
import { PageRuns, readChanges } from '../parts/view-runs.js'
import type { WriteFilter } from './write-filters.js'

/** Progress of a stream: an entry of a version, or knowledge that the versions up to one have no further entries. */
export interface StreamStep {
  readonly version: bigint
  /** The pieces of the entry's JSON. Each is made when it is sent. Undefined if there is no entry. */
  readonly pieces?: Iterable<string>
}

/** Entries of a kind of stream. */
export interface StreamEntries {
  /**
   * The entries between a version and the version of a state, both included, in order. It yields at least one step, or
   * waits; the caller continues after the last step.
   * @throws `version_pruned`, `version_truncated`
   */
  read(first: bigint, state: LedgerState): AsyncIterable<StreamStep>
  close(): void
}

/** The writes of versions that a filter selects. */
export class WriteEntries implements StreamEntries {
  readonly #host: StreamHost
  readonly #reader: SharedReader
  readonly #filter: WriteFilter

  constructor(host: StreamHost, filter: WriteFilter) {
    this.#host = host
    this.#reader = host.changes.open()
    this.#filter = filter
  }

  async *read(first: bigint, state: LedgerState): AsyncGenerator<StreamStep> {
    const { turn } = this.#host
    for (let next = first; next <= state.version; ) {
      const versions = await this.#reader.read(next, state.version, branchOf(state.ledger))
      if (versions.length === 0) return
      const bytes = versions.reduce((sum, one) => sum + bytesOf(one), 0)
      this.#host.hold(bytes)
      try {
        for (const record of versions) {
          const changes = this.#changesOf(record)
          const { version } = record
          // An entry begins with its first change.
          const { done, value } = changes.next()
          if (!done) yield { version, pieces: entryPieces(state, version, 'changes', value, changes) }
          if (turn.isSpent) await turn.nextTurn()
        }
      } finally {
        this.#host.release(bytes)
      }
      next = versions.at(-1)!.version + 1n
      yield { version: next - 1n }
    }
  }

  close(): void {
    this.#reader.close()
  }

  *#changesOf({ version, writes }: VersionWrites): Generator<string, undefined> {
    const { ledger } = this.#host
    let states: readonly [LedgerState, LedgerState] | undefined
    for (const [key, value] of writes) {
      if (!this.#filter.selects(key)) continue
      states ??= [ledger.at(version), ledger.at(version - 1n)]
      yield* this.#filter.changesOf(...states, { key, value })
    }
  }
}

/** The pieces of an entry with a list. */
function* entryPieces(
  state: LedgerState,
  version: bigint,
  member: string,
  first: string,
  others: Iterable<string>,
): Generator<string> {
  yield `{"version":"${version}","timestamp":"${timeOf(state, version)}","${member}":[${first}`
  for (const one of others) yield `,${one}`
  yield `]${transactionMember(transactionsOf(state)?.(version))}}`
}

/** Memory of the answers of a view after which a page ends. */
const MOST_ANSWER_BYTES = 256 << 10
/** Most events that are read in one go. */
const PAGE_OF_EVENTS = 100

interface Jsonable {
  toJson(): string
}

function* jsonOf(items: readonly Jsonable[]): Generator<string> {
  for (const item of items) yield item.toJson()
}

/** The events of a type, of a store that keeps whole transactions. */
export class EventEntries implements StreamEntries {
  readonly #host: StreamHost
  readonly #type: TypeTag

  constructor(host: StreamHost, type: TypeTag) {
    this.#host = host
    this.#type = type
  }

  async *read(first: bigint, state: LedgerState): AsyncGenerator<StreamStep> {
    const { turn } = this.#host
    let current: { readonly version: bigint; readonly events: Jsonable[] } | undefined
    const entryOf = ({ version, events: [one, ...others] }: NonNullable<typeof current>): StreamStep => ({
      version,
      pieces: entryPieces(state, version, 'events', one!.toJson(), jsonOf(others)),
    })
    state.transactions.expectSince(first)
    for (let start: { readonly version: bigint; readonly shown: number } | undefined; ; ) {
      const page = eventsOfType(state, this.#type, { from: first, order: 'asc', limit: PAGE_OF_EVENTS, start })
      for (const event of page) {
        if (event && event.version !== current?.version) {
          if (current) yield entryOf(current)
          current = { version: event.version, events: [] }
        }
        if (event) current!.events.push(event)
        if (turn.isSpent) await turn.nextTurn()
      }
      start = page.cursor
      if (!start) break
    }
    if (current) yield entryOf(current)
    yield { version: state.version }
  }

  close(): void {}
}

/**
 * The versions at which the answer of a view changed. The view runs again only after writes to something that it read.
 */
export class ViewEntries implements StreamEntries {
  readonly #host: StreamHost
  readonly #call: ViewRequest
  /** The keys that the newest run read, and the version and branch up to which its answer holds. */
  #known:
    | { readonly keys: ReadonlyMap<string, Uint8Array>; readonly version: bigint; readonly branch: number }
    | undefined

  constructor(host: StreamHost, call: ViewRequest) {
    this.#host = host
    this.#call = call
  }

  async *read(first: bigint, state: LedgerState): AsyncGenerator<StreamStep> {
    const { turn } = this.#host
    const branch = branchOf(state.ledger)
    if (this.#known?.version !== first - 1n || this.#known.branch !== branch || this.#isWritten(first, state)) {
      this.#known = undefined
      const transactionOf = transactionsOf(state)
      for (let from: bigint | undefined = first; from !== undefined; ) {
        const views = this.#host.openViews()
        let bytes = 0
        const runs = new PageRuns(views)
        const history = viewHistory(state, this.#call, {
          from,
          order: 'asc',
          limit: PAGE_OF_EVENTS,
          budget: views.rules.budget,
          computesElsewhere: true,
          isFull: () => runs.areSpent || bytes >= MOST_ANSWER_BYTES,
          onRun: (report) => runs.add(report),
        })
        const found: Change<ViewAnswer>[] = []
        const add = (change: Change<ViewAnswer>): void => {
          const length = 2 * (change.value?.json.reduce((sum, one) => sum + one.length, 0) ?? 0)
          this.#host.hold(length)
          bytes += length
          found.push(change)
        }
        try {
          await readChanges(views, history, add, turn)
          for (const change of found) {
            yield { version: change.version, pieces: [changeToJson(change, 'values', answerToJson, transactionOf)] }
          }
        } finally {
          this.#host.release(bytes)
        }
        from = history.cursor
        if (from !== undefined) yield { version: from - 1n }
        else this.#known = { keys: history.keys, version: state.version, branch }
      }
    } else this.#known = { ...this.#known, version: state.version }
    yield { version: state.version }
  }

  close(): void {}

  #isWritten(first: bigint, { source, version }: LedgerState): boolean {
    const range = { above: first - 1n, last: version }
    return [...this.#known!.keys.values()].some((key) => nearestWrite(source.reader, key, range) !== null)
  }
}

function timeOf({ source }: LedgerState, version: bigint): bigint {
  return source.reader.blockAt(version).block.timestampUsec
}
