import { branchOf, type StateEngineReader } from '@ledger-state/engine'
import { versionToFeedLine } from '@ledger-state/feed'

const PIECE_CHARACTERS = 65_536

interface Stretch {
  readonly first: bigint
  readonly last: bigint
  readonly text: string
}

/** Reads the lines of the versions from `first` to `last`, in pieces. */
export function* linesOf(engine: StateEngineReader, first: bigint, last: bigint): Generator<Stretch> {
  let begin = first
  let text = ''
  for (const record of engine.versions(first, last)) {
    text += `${versionToFeedLine(record)}\n`
    if (text.length < PIECE_CHARACTERS && record.version < last) continue
    yield { first: begin, last: record.version, text }
    begin = record.version + 1n
    text = ''
  }
}

/**
 * Keeps the lines of the newest versions, so that they are read once for all replicas that are up to date. After a
 * truncation it forgets them.
 */
export class RecentLines {
  readonly #engine: StateEngineReader
  readonly #maxCharacters: number
  /** Consecutive stretches, up to the newest version that was asked for. */
  #stretches: Stretch[] = []
  #characters = 0
  /** Branch of the ledger that the lines are of. */
  #branch = 0

  /**
   * Makes an empty buffer of lines.
   * @param maxCharacters most characters that are kept; 16 million by default
   */
  constructor(engine: StateEngineReader, maxCharacters = 16_000_000) {
    this.#engine = engine
    this.#maxCharacters = maxCharacters
  }

  /** Iterates over the lines of the versions from `first` to `last`. @throws `version_pruned` */
  *linesOf(first: bigint, last: bigint): Generator<Stretch> {
    const branch = branchOf(this.#engine.ledger!)
    if (branch !== this.#branch) this.#forget(branch)
    const kept = this.#stretches
    const [oldest, newest] = [kept[0]?.first, kept.at(-1)?.last]
    const isNext = newest === undefined || first === newest + 1n
    if (!isNext && (oldest === undefined || first < oldest)) {
      yield* linesOf(this.#engine, first, last)
      return
    }
    let next = first
    for (const stretch of [...kept]) {
      if (stretch.last < next) continue
      // A kept stretch is sent from its beginning or not at all.
      if (stretch.first < next) yield* linesOf(this.#engine, next, stretch.last)
      else yield stretch
      next = stretch.last + 1n
    }
    if (next > last) return
    for (const stretch of linesOf(this.#engine, next, last)) {
      // A truncation may have come since, and another caller may have begun to keep its lines.
      if (branch === this.#branch && branch === branchOf(this.#engine.ledger!)) this.#keep(stretch)
      yield stretch
    }
  }

  #forget(branch: number): void {
    this.#branch = branch
    this.#stretches = []
    this.#characters = 0
  }

  #keep(stretch: Stretch): void {
    if (stretch.first !== (this.#stretches.at(-1)?.last ?? stretch.first - 1n) + 1n) return
    this.#stretches.push(stretch)
    this.#characters += stretch.text.length
    while (this.#characters > this.#maxCharacters) this.#characters -= this.#stretches.shift()!.text.length
  }
}
