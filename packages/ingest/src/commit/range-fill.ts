import type { AsyncStateWriter } from '@ledger-state/engine'
import type { LedgerSource, LedgerVersion } from '@ledger-state/feed'
import { decodeCommitMark, type RangeOfLedger } from '@ledger-state/records'
import { rangeErrors } from '../errors.js'
import type { IngestOptions, KeptParts } from './ingest-options.js'
import { type ProvenBySource, provenBy } from './proven-by-source.js'

/** Each contains the parts before it. */
const KEPT: readonly KeptParts[] = ['none', 'summary', 'whole']

/**
 * Bounds of a store that is filled with the blocks that begin in a range of versions, so that ranges which follow each
 * other have each block once. The mark of the store says with which accumulator of the ledger it begins.
 */
export class RangeFill {
  readonly #source: LedgerSource
  readonly #from: bigint
  readonly #to: bigint
  readonly #kept: KeptParts
  #mark: RangeOfLedger | undefined
  #provenBefore: ProvenBySource | undefined

  private constructor(
    source: LedgerSource,
    { from, to }: { readonly from: bigint; readonly to: bigint },
    kept: KeptParts,
    mark: RangeOfLedger | undefined,
  ) {
    this.#source = source
    this.#from = from
    this.#to = to
    this.#kept = kept
    this.#mark = mark
  }

  /**
   * Begins or continues to fill a range; undefined if the options name none.
   * @throws `invalid_argument` if the store has another range, or has one and the options name none
   */
  static async open(
    engine: AsyncStateWriter,
    source: LedgerSource,
    { range, keepTransactions = 'whole', transactionIndexes }: IngestOptions,
  ): Promise<RangeFill | undefined> {
    const { ledger, mark } = await engine.snapshot()
    const held = decodeCommitMark(mark).range
    if (!range) {
      if (held) throw rangeErrors.storeOfRange(held.from, held.to)
      return undefined
    }
    if (transactionIndexes) throw rangeErrors.hasAllIndexes()
    if (source.base) throw rangeErrors.beginsWithState(source.position)
    if (ledger && (held?.from !== range.from || held.to !== range.to)) {
      throw rangeErrors.otherStore(range.from, range.to)
    }
    if (held && held.kept !== KEPT.indexOf(keepTransactions)) throw rangeErrors.otherTransactions()
    return new RangeFill(source, range, keepTransactions, held)
  }

  /** Version from which the source is read into an empty store. */
  get readFrom(): bigint {
    return this.#from
  }

  /** The range in the mark of the store. */
  get mark(): RangeOfLedger | undefined {
    return this.#mark
  }

  /** What is proven up to the version that was passed last, once the range may end there. */
  get provenBefore(): ProvenBySource | undefined {
    return this.#provenBefore
  }

  /** Whether earlier ranges began to keep these parts of transactions; whole transactions are kept with their summaries. */
  keeps(parts: Exclude<KeptParts, 'none'>): boolean {
    return this.#from > 0n && KEPT.indexOf(this.#kept) >= KEPT.indexOf(parts)
  }

  /**
   * Whether the range begins with a version. @throws `invalid_argument` if the source proves nothing, or has no block
   * in the range
   */
  beginsWith({ version, block }: LedgerVersion): boolean {
    const proven = provenBy(this.#source)
    if (!proven.mark) throw rangeErrors.noProofs(this.#source.position)
    if (version >= this.#from && block) {
      if (version > this.#to) throw rangeErrors.nothingInRange(this.#from, this.#to)
      const before = this.#provenBefore?.mark ?? this.#source.markBefore
      this.#mark = { from: this.#from, to: this.#to, before, kept: KEPT.indexOf(this.#kept) }
      return true
    }
    this.#provenBefore = proven
    return false
  }

  /** Whether a version is the first after the range. */
  endsBefore({ version, block }: LedgerVersion): boolean {
    return version > this.#to && block !== undefined
  }

  /** Takes note of a version of the range. */
  passed({ version }: LedgerVersion): void {
    if (version >= this.#to) this.#provenBefore = provenBy(this.#source)
  }
}
