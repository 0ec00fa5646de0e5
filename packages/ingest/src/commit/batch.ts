import { bytesOfWrites, type VersionWrites, type Write } from '@ledger-state/core'
import type { LedgerVersion } from '@ledger-state/feed'
import { ACCUMULATOR_ROOT_KEY, CHECKPOINT_KEY, STATE_ROOT_KEY } from '@ledger-state/records'

// Most versions, writes and bytes of a full batch. A batch becomes durable with one flush of the disk, and a crash may
// cost one batch. A full batch waits for the end of its block, so that readers see whole blocks, unless the block is
// longer than `OVERFULL_BATCHES` batches.
/** Name of the variable with which tests make batches short. */
const LIMIT_VARIABLE = 'LEDGER_STATE_BATCH_VERSIONS'
const BATCH_VERSIONS = 1_000
const BATCH_WRITES = 10_000
const BATCH_BYTES = 16 * 1024 * 1024
const OVERFULL_BATCHES = 8

export interface TakenBatch {
  readonly versions: readonly VersionWrites[]
  /** The batch's versions with all writes of the source, if the store keeps only a part of them. */
  readonly whole: readonly VersionWrites[]
  readonly writes: number
  readonly bytes: number
}

/** Versions that are committed together. */
export class Batch {
  readonly #mostVersions = Number(process.env[LIMIT_VARIABLE] ?? BATCH_VERSIONS)
  #versions: VersionWrites[] = []
  #whole: VersionWrites[] = []
  #writes = 0
  #bytes = 0

  get isEmpty(): boolean {
    return this.#versions.length === 0
  }

  get isFull(): boolean {
    return this.#holds(1)
  }

  get isOverfull(): boolean {
    return this.#holds(OVERFULL_BATCHES)
  }

  #holds(batches: number): boolean {
    return (
      this.#versions.length >= batches * this.#mostVersions ||
      this.#writes >= batches * BATCH_WRITES ||
      this.#bytes >= batches * BATCH_BYTES
    )
  }

  /**
   * Adds a version. Statements of its ledger about the state after it are added as writes of the store's own keys.
   * @param beside writes of the store's own keys
   * @param whole the version with all writes of the source, if only a part is kept and the hash of everything is
   * computed
   */
  add(record: LedgerVersion, beside: readonly Write[] = [], whole?: LedgerVersion): void {
    this.#versions.push(withOwn(record, beside))
    if (whole) this.#whole.push(withOwn(whole, []))
    this.#writes += record.writes.length
    this.#bytes += bytesOfWrites(record.writes)
  }

  /** Takes the versions out, which leaves the batch empty. */
  take(): TakenBatch {
    const taken = { versions: this.#versions, whole: this.#whole, writes: this.#writes, bytes: this.#bytes }
    this.#versions = []
    this.#whole = []
    this.#writes = 0
    this.#bytes = 0
    return taken
  }
}

function withOwn(record: LedgerVersion, beside: readonly Write[]): VersionWrites {
  const { version, block, writes, stateRoot, accumulatorRoot, checkpoint } = record
  const own = [...beside]
  if (stateRoot) own.push([STATE_ROOT_KEY, stateRoot])
  if (accumulatorRoot) own.push([ACCUMULATOR_ROOT_KEY, accumulatorRoot])
  if (checkpoint) own.push([CHECKPOINT_KEY, checkpoint])
  return own.length > 0 ? { version, block, writes: [...writes, ...own] } : record
}
