import type { VersionWrites } from '@ledger-state/core'
import { branchOf, nearestWrite } from '@ledger-state/engine'
import {
  type Change,
  type DecodedEvent,
  eventsOfType,
  type LedgerState,
  type ViewAnswer,
  type ViewRequest,
  viewHistory,
} from '@ledger-state/ledger'
import type { TypeTag } from '@ledger-state/type-tag'
import type { Turn } from '../../admission/turn-queue.js'
import { bytesOf, type SharedReader } from '../../changes/shared-changes.js'
import { changePrinter } from '../../formats/history-formats.js'
import { itemToJson } from '../../formats/item-text.js'
import { transactionMember, transactionsOf } from '../../formats/transaction-formats.js'
import { printAnswer } from '../../formats/view-history-formats.js'
import { textPieces } from '../../protocol/text-pieces.js'
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
          const first = await nextInTurns(changes, turn)
          if (first !== undefined) yield { version, pieces: entryPieces(state, version, 'changes', first, changes) }
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

  /** Undefined is a chance to pause. */
  *#changesOf({ version, writes }: VersionWrites): Generator<string | undefined, void> {
    const { ledger } = this.#host
    let states: readonly [LedgerState, LedgerState] | undefined
    for (const [key, value] of writes) {
      if (!this.#filter.selects(key)) continue
      states ??= [ledger.at(version), ledger.at(version - 1n)]
      yield* this.#filter.changesOf(...states, { key, value })
      yield undefined
    }
  }
}

/** The next item, in turns of the event loop; undefined at the end. */
async function nextInTurns<T>(items: Iterator<T | undefined, void>, turn: Turn): Promise<T | undefined> {
  for (;;) {
    const { done, value } = items.next()
    if (turn.isSpent) await turn.nextTurn()
    if (done || value !== undefined) return value ?? undefined
  }
}

/** The pieces of an entry with a list, none of which is long. A piece is empty where the list has a chance to pause. */
function* entryPieces(
  state: LedgerState,
  version: bigint,
  member: string,
  first: string,
  others: Iterable<string | undefined>,
): Generator<string> {
  yield* textPieces(`{"version":"${version}","timestamp":"${timeOf(state, version)}","${member}":[${first}`)
  for (const one of others) yield* textPieces(one === undefined ? '' : `,${one}`)
  yield `]${transactionMember(transactionsOf(state)?.(version))}}`
}

/** Memory of the answers of a view after which a page ends. */
const MOST_ANSWER_BYTES = 256 << 10
/** Events after which a page ends, with those of its last version. */
const PAGE_OF_EVENTS = 100
/** Most changes of a view in a page. */
const PAGE_OF_ANSWERS = 100

/** The events of a type, of a store that keeps whole transactions. */
export class EventEntries implements StreamEntries {
  readonly #host: StreamHost
  readonly #type: TypeTag

  constructor(host: StreamHost, type: TypeTag) {
    this.#host = host
    this.#type = type
  }

  async *read(first: bigint, state: LedgerState): AsyncGenerator<StreamStep> {
    state.transactions.expectSince(first)
    for (let from: bigint | undefined = first; from !== undefined; ) {
      const events = new EventPage(
        eventsOfType(state, this.#type, { from, order: 'asc', limit: Number.MAX_SAFE_INTEGER }),
      )
      from = undefined
      for (let event = await events.next(this.#host.turn); event; event = await events.next(this.#host.turn)) {
        const { version } = event
        if (events.count > PAGE_OF_EVENTS) {
          from = version
          break
        }
        yield { version, pieces: entryPieces(state, version, 'events', event.toJson(), events.restOf(version)) }
      }
    }
    yield { version: state.version }
  }

  close(): void {}
}

/** Reads events one version after the other. */
class EventPage {
  readonly #events: Iterator<DecodedEvent | undefined, void>
  /** The event after the rest of a version. */
  #next: DecodedEvent | undefined
  /** Number of events that were read. */
  count = 0

  constructor(events: Iterable<DecodedEvent | undefined>) {
    this.#events = events[Symbol.iterator]() as Iterator<DecodedEvent | undefined, void>
  }

  /** The first event of the next version; undefined at the end. Call it after all events of the version before. */
  async next(turn: Turn): Promise<DecodedEvent | undefined> {
    const found = this.#next
    if (!found) return this.#counted(await nextInTurns(this.#events, turn))
    this.#next = undefined
    return found
  }

  /** The other events of a version as JSON. Undefined is a chance to pause. */
  *restOf(version: bigint): Generator<string | undefined, void> {
    for (let step = this.#events.next(); !step.done; step = this.#events.next()) {
      const event = this.#counted(step.value ?? undefined)
      if (event && event.version !== version) {
        this.#next = event
        return
      }
      yield event?.toJson()
    }
  }

  #counted(event: DecodedEvent | undefined): DecodedEvent | undefined {
    if (event) this.count++
    return event
  }
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
          limit: PAGE_OF_ANSWERS,
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
          const print = changePrinter('values', printAnswer, transactionOf)
          for (const change of found) {
            const json = itemToJson(change, print)
            yield { version: change.version, pieces: textPieces(json) }
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
