import { BlockCache } from './block-cache.js'

/** Bytes of memory for copies of blocks. */
const COPIES_BYTES = 2 ** 23
/** A block is copied if one of so many epochs before compared it, too. */
const RECENT_EPOCHS = 4
/** Most bytes that one epoch copies. A copy costs as much as comparing the block a few times. */
const EPOCH_BYTES = 2 ** 19

/** Epochs in which mapped blocks are compared with their checksums: each new one compares them again. */
export class VerifyEpochs {
  /** Copies of the blocks that are read in one epoch after the other. Damage of a file cannot reach them. */
  readonly copies: BlockCache
  #current = 1
  #bytesLeft = EPOCH_BYTES

  constructor(copiesBytes = COPIES_BYTES) {
    this.copies = new BlockCache(copiesBytes)
  }

  /** Number of the epoch; the first is 1. */
  get current(): number {
    return this.#current
  }

  begin(): void {
    this.#current++
    this.#bytesLeft = EPOCH_BYTES
  }

  /** Whether to copy a block that an earlier epoch compared last, which then counts as copied. */
  takesCopy(verifiedIn: number, bytes: number): boolean {
    if (this.#current - verifiedIn > RECENT_EPOCHS || bytes > this.#bytesLeft) return false
    this.#bytesLeft -= bytes
    return true
  }
}
