import { type Block, isLedgerStateError, type LedgerStateError, type RemoteStateSnapshot } from '@ledger-state/core'

/** Blocks that one round loads; what lacks more gets them in the next one. */
const BLOCKS_A_ROUND = 1_024

/** Block of one kind of question: loaded, or lacking. */
class Answers<T> {
  readonly #known = new Map<bigint, T>()
  readonly #lacked = new Set<bigint>()
  readonly #ask: (snapshot: RemoteStateSnapshot, question: bigint) => Promise<T>

  constructor(ask: (snapshot: RemoteStateSnapshot, question: bigint) => Promise<T>) {
    this.#ask = ask
  }

  get isLacking(): boolean {
    return this.#lacked.size > 0
  }

  get(question: bigint): T | undefined {
    const known = this.#known.get(question)
    if (known === undefined && !this.#known.has(question)) this.#lacked.add(question)
    return known
  }

  load(snapshot: RemoteStateSnapshot): Promise<void>[] {
    const questions = [...this.#lacked].slice(0, BLOCKS_A_ROUND)
    this.#lacked.clear()
    return questions.map(async (question) => {
      this.#known.set(question, await this.#ask(snapshot, question))
    })
  }
}

/** What was loaded of the blocks of a snapshot. */
export class LoadedBlocks {
  readonly #ofVersions = new Answers<Block | LedgerStateError>((snapshot, version) =>
    snapshot.blockAt(version).catch((error) => {
      if (isLedgerStateError(error, 'version_pruned')) return error
      throw error
    }),
  )
  readonly #byHeight = new Answers((snapshot, height) => snapshot.blockByHeight(height))
  readonly #atTime = new Answers((snapshot, timestampUsec) => snapshot.blockAtTime(timestampUsec))

  get isLacking(): boolean {
    return this.#ofVersions.isLacking || this.#byHeight.isLacking || this.#atTime.isLacking
  }

  load(snapshot: RemoteStateSnapshot): Promise<void>[] {
    return [this.#ofVersions, this.#byHeight, this.#atTime].flatMap((answers) => answers.load(snapshot))
  }

  /** As long as it is lacking: a block of the version alone. @throws `version_pruned` */
  at(version: bigint): Block {
    const found = this.#ofVersions.get(version)
    if (found instanceof Error) throw found
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
