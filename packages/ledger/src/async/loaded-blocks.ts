import { LedgerStateError } from '@ledger-state/core'
import type { AsyncStateSnapshot, Block } from '@ledger-state/engine'
import type { Lacks } from './lacks.js'
import type { Prunes } from './prunes.js'

/** Most blocks that one round loads; the next round loads the others. */
const BLOCKS_A_ROUND = 1_024

/** Answers to one kind of question about blocks: each is loaded or lacking. */
class Answers<T> {
  readonly #known = new Map<bigint, T | LedgerStateError>()
  readonly #lacked = new Set<bigint>()
  readonly #lacks: Lacks
  readonly #prunes: Prunes
  readonly #ask: (snapshot: AsyncStateSnapshot, question: bigint) => Promise<T>

  constructor(lacks: Lacks, prunes: Prunes, ask: (snapshot: AsyncStateSnapshot, question: bigint) => Promise<T>) {
    this.#lacks = lacks
    this.#prunes = prunes
    this.#ask = ask
  }

  get isLacking(): boolean {
    return this.#lacked.size > 0
  }

  /**
   * The answer to a question; undefined, and noted as lacking, if it is not loaded.
   * @throws `version_pruned`
   */
  get(question: bigint): T | undefined {
    const known = this.#known.get(question)
    if (known instanceof LedgerStateError) throw known
    if (known === undefined && !this.#known.has(question)) {
      this.#lacks.count++
      this.#lacked.add(question)
    }
    return known
  }

  load(snapshot: AsyncStateSnapshot): Promise<void>[] {
    const questions = [...this.#lacked].slice(0, BLOCKS_A_ROUND)
    this.#lacked.clear()
    return questions.map(async (question) => {
      const answer = this.#ask(snapshot, question).catch((error) => this.#prunes.expectPruned(error))
      this.#known.set(question, await answer)
    })
  }
}

/** Loaded blocks of a snapshot. */
export class LoadedBlocks {
  readonly #ofVersions: Answers<Block>
  readonly #byHeight: Answers<Block | undefined>
  readonly #atTime: Answers<Block | undefined>

  constructor(lacks: Lacks, prunes: Prunes) {
    this.#ofVersions = new Answers(lacks, prunes, (snapshot, version) => snapshot.blockAt(version))
    this.#byHeight = new Answers(lacks, prunes, (snapshot, height) => snapshot.blockByHeight(height))
    this.#atTime = new Answers(lacks, prunes, (snapshot, timestampUsec) => snapshot.blockAtTime(timestampUsec))
  }

  get isLacking(): boolean {
    return this.#ofVersions.isLacking || this.#byHeight.isLacking || this.#atTime.isLacking
  }

  load(snapshot: AsyncStateSnapshot): Promise<void>[] {
    return [this.#ofVersions, this.#byHeight, this.#atTime].flatMap((answers) => answers.load(snapshot))
  }

  /**
   * The block of a version; until it is loaded, a block of only this version.
   * @throws `version_pruned`
   */
  at(version: bigint): Block {
    const found = this.#ofVersions.get(version)
    const unknown = { height: 0n, epoch: 0n, timestampUsec: 0n }
    return found ?? { firstVersion: version, lastVersion: version, block: unknown }
  }

  byHeight(height: bigint): Block | undefined {
    return this.#byHeight.get(height)
  }

  atTime(timestampUsec: bigint): Block | undefined {
    return this.#atTime.get(timestampUsec)
  }
}
