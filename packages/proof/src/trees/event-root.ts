import { ByteReader, type Steps } from '@ledger-state/core'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { ACCUMULATOR_PLACEHOLDER, type LedgerHasher } from '../hashes/ledger-hasher.js'
import { skipEvent } from '../wire/events.js'
import { AccumulatorFrontier } from './accumulator.js'

/** Hashes of one step: about 0.1 ms. */
const STEP_HASHES = 64
const PAIR_LENGTH = 2 * HASH_LENGTH

/** Moves the reader past a vector of events, and returns the root of their accumulator. */
export function computeEventRoot(reader: ByteReader, hasher: LedgerHasher): Uint8Array {
  const root = new RunningRoot(hasher)
  root.append(reader, reader.readLength())
  return root.root()
}

/** The root of the accumulator of a vector of events, in steps. @throws `invalid_bcs` if they cannot be separated */
export function* eventRootInSteps(events: Uint8Array, hasher: LedgerHasher): Steps<Uint8Array> {
  const reader = new ByteReader(events)
  const root = new RunningRoot(hasher)
  let rest = reader.readLength()
  for (; rest > STEP_HASHES; rest -= STEP_HASHES) {
    root.append(reader, STEP_HASHES)
    yield
  }
  root.append(reader, rest)
  reader.expectEnd()
  return root.root()
}

class RunningRoot {
  readonly #hasher: LedgerHasher
  readonly #frontier: AccumulatorFrontier
  readonly #leaf = new Uint8Array(HASH_LENGTH)

  constructor(hasher: LedgerHasher) {
    this.#hasher = hasher
    this.#frontier = new AccumulatorFrontier(hasher, 'EventAccumulator')
  }

  /** Appends the next events of a vector. */
  append(reader: ByteReader, count: number): void {
    for (let rest = count; rest > 0; rest--) {
      const start = reader.offset
      skipEvent(reader)
      this.#hasher.hashInto('ContractEvent', reader.bytes.subarray(start, reader.offset), this.#leaf, 0)
      this.#frontier.append(this.#leaf)
    }
  }

  root(): Uint8Array {
    return this.#frontier.root()
  }
}

/** The accumulator of the events of a transaction, with all its nodes. */
export class EventTree {
  /** The nodes of each level side by side, the leaves first. */
  readonly #levels: readonly Uint8Array[]

  private constructor(levels: readonly Uint8Array[]) {
    this.#levels = levels
  }

  /** Makes the tree of a vector of events. @throws `invalid_bcs` if they cannot be separated */
  static *inSteps(events: Uint8Array, hasher: LedgerHasher): Steps<EventTree> {
    const reader = new ByteReader(events)
    const count = reader.readLength()
    if (count > reader.remaining) throw reader.fault(`${count} events in ${reader.remaining} bytes`)
    const leaves = new Uint8Array(count * HASH_LENGTH)
    for (let at = 0; at < count; at += STEP_HASHES) {
      if (at > 0) yield
      hashLeaves(hasher, reader, leaves, at)
    }
    reader.expectEnd()
    const levels = [leaves]
    for (let below = leaves; below.length > HASH_LENGTH; levels.push(below)) {
      const level = new Uint8Array(Math.ceil(below.length / PAIR_LENGTH) * HASH_LENGTH)
      for (let at = 0; at * HASH_LENGTH < level.length; at += STEP_HASHES) {
        if (at > 0) yield
        hashPairs(hasher, below, level, at)
      }
      below = level
    }
    return new EventTree(levels)
  }

  get root(): Uint8Array {
    return nodeOf(this.#levels.at(-1)!, 0) ?? ACCUMULATOR_PLACEHOLDER
  }

  /** The siblings on the path from an event to the root, the lowest first. */
  pathOf(index: number): Uint8Array[] {
    const below = this.#levels.slice(0, -1)
    return below.map((level, height) => nodeOf(level, Math.floor(index / 2 ** height) ^ 1) ?? ACCUMULATOR_PLACEHOLDER)
  }
}

/** Hashes the next events, up to `STEP_HASHES`, as the leaves from a place on. */
function hashLeaves(hasher: LedgerHasher, reader: ByteReader, leaves: Uint8Array, first: number): void {
  const end = Math.min(first + STEP_HASHES, leaves.length / HASH_LENGTH)
  for (let at = first; at < end; at++) {
    const start = reader.offset
    skipEvent(reader)
    hasher.hashInto('ContractEvent', reader.bytes.subarray(start, reader.offset), leaves, at * HASH_LENGTH)
  }
}

/** Hashes pairs of a level, up to `STEP_HASHES`, into the level above from a place on. */
function hashPairs(hasher: LedgerHasher, below: Uint8Array, level: Uint8Array, first: number): void {
  const end = Math.min(first + STEP_HASHES, level.length / HASH_LENGTH)
  for (let at = first; at < end; at++) {
    // The nodes of a pair are side by side.
    const pair = below.subarray(at * PAIR_LENGTH, (at + 1) * PAIR_LENGTH)
    if (pair.length === PAIR_LENGTH) hasher.hashInto('EventAccumulator', pair, level, at * HASH_LENGTH)
    else hasher.hashPairInto('EventAccumulator', pair, ACCUMULATOR_PLACEHOLDER, level, at * HASH_LENGTH)
  }
}

function nodeOf(level: Uint8Array, at: number): Uint8Array | undefined {
  const start = at * HASH_LENGTH
  return start < level.length ? level.subarray(start, start + HASH_LENGTH) : undefined
}
