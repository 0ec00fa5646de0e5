import { ByteReader, SizedCache, type VersionWrites, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { LedgerVersion } from '@ledger-state/feed'
import { DEFAULT_HASH_SALT } from '@ledger-state/proof'
import { readEventHead } from '@ledger-state/proof/transactions'
import {
  decodeWholeTransactionsMark,
  encodeRetained,
  encodeWholeTransactionsMark,
  isOwnKey,
  isSliceKey,
  isTransactionKey,
  isWholeTransactionKey,
  RETAINED_KEY,
  RUN_VERSIONS,
  readSent,
  TRANSACTIONS_KEY,
  type TransactionIndex,
  transactionKey,
  transactionToBytes,
  WHOLE_TRANSACTIONS_KEY,
  type WholeTransaction,
} from '@ledger-state/records'
import { noTransactionWrite, TransactionGroup, type TransactionPlace } from '@ledger-state/records/transaction-group'
import type { KeptParts } from './ingest-options.js'

const NOTHING: readonly Write[] = []
const KEPT = new Uint8Array(0)
/** Bytes of remembered names of functions: a few hundred, as users of a network call in some minutes. */
const FUNCTIONS_BYTES = 256 * 1024

export interface TransactionKeeperOptions {
  /** Whether the newest version of the store came with its transaction. */
  readonly isKept: boolean
  /** Whether the store keeps whole transactions. */
  readonly isWhole: boolean
  /** Whether it was not given the one of the newest version. */
  readonly isCut: boolean
  /** Indexes of whole transactions. */
  readonly indexes: ReadonlySet<TransactionIndex>
  /**
   * Parts to keep, if the source carries them. A store that keeps more continues without being asked. Undefined: a store
   * without versions keeps everything that the source carries, and another one continues.
   */
  readonly asked: KeptParts | undefined
  /** Slice that the store keeps; undefined if it keeps everything. */
  readonly slice: MemberTest | undefined
  /**
   * Whether the source is a store that keeps a slice, and this store copies it. In such a source most versions have no
   * transaction, and it says itself where its transactions end. The keeper finds out by itself from records of a slice
   * among the writes.
   */
  readonly isCopyOfSlice: boolean
  /** Whether transactions are kept longer than their states. */
  readonly areRetained: boolean
  /** Whether the store has transactions that are kept longer than their states. */
  readonly hasRetained: boolean
  /** Time of the block of the newest version of the store; undefined if it is empty. */
  readonly timestampUsec: bigint | undefined
  /** Word before the names of the hashes of the source's ledger. */
  hashSalt(): string | undefined
  /** Whether the store has versions, not only an imported state. */
  readonly hasVersions: boolean
  /** Called with one line for people. */
  onNotice(message: string): void
}

/** The members of a slice. */
export interface MemberTest {
  /** Whether an account is a member. */
  hasAccount(address: Uint8Array): boolean
  /** Whether a state key belongs to an account or a table that is a member. */
  hasMemberOf(key: Uint8Array): boolean
}

/**
 * Makes the writes by which a store keeps the transactions of its versions, and tells the first version with
 * transactions. The key `TRANSACTIONS_KEY` exists as long as every version that wrote state came with its transaction.
 */
export class TransactionKeeper {
  #isKept: boolean
  #isWhole: boolean
  #indexes: ReadonlySet<TransactionIndex>
  #isCopyOfSlice: boolean
  #isWholeAbsenceNoticed: boolean
  readonly #options: TransactionKeeperOptions
  readonly #asked: KeptParts
  readonly #functions = new SizedCache<Uint8Array>(FUNCTIONS_BYTES)
  #isAbsenceNoticed: boolean
  #hasRetained: boolean
  /** Time of the block of the newest version. */
  #timestampUsec: bigint
  readonly #place: TransactionPlace
  /**
   * First version that lies in another run than the first of this ingest. A slice that resumes within a block of its
   * source cannot read that block, which ends before this version.
   */
  #knownFrom: bigint | undefined
  /** Whether there are no blocks of transactions before this ingest, or one of this ingest says where they end. */
  #isEarlierCut: boolean
  /** Whether the whole transaction of the version before was not given, though the store keeps them. */
  #isCut: boolean
  /** Transactions of the next commit. */
  #group: TransactionGroup | undefined

  constructor(options: TransactionKeeperOptions) {
    this.#asked = options.asked ?? (options.hasVersions && !options.isWhole ? 'none' : 'whole')
    this.#isAbsenceNoticed = options.asked === undefined
    this.#isWholeAbsenceNoticed = options.asked === undefined
    this.#isKept = options.isKept
    this.#isWhole = options.isWhole
    this.#isCut = options.isCut
    this.#indexes = options.indexes
    this.#isEarlierCut = !options.hasVersions
    this.#isCopyOfSlice = options.isCopyOfSlice
    this.#hasRetained = options.hasRetained
    this.#timestampUsec = options.timestampUsec ?? 0n
    this.#place = options.areRetained ? 'own' : options.slice ? 'shared_with_values' : 'shared'
    this.#options = options
  }

  /** Writes of a version in addition to the writes of its source. */
  writesOf(record: LedgerVersion): readonly Write[] {
    const whole = this.#wholeOf(record)
    const facts = this.#factsOf(record)
    return whole.length === 0 ? facts : [...facts, ...whole]
  }

  #wholeOf({ version, block, writes, readWhole }: LedgerVersion): readonly Write[] {
    if (block) this.#timestampUsec = block.timestampUsec
    let isOfFeed = false
    for (const [key, value] of writes) {
      if (isSliceKey(key)) this.#isCopyOfSlice = this.#options.slice === undefined
      if (!isWholeTransactionKey(key)) continue
      isOfFeed = true
      if (compareBytes(key, WHOLE_TRANSACTIONS_KEY) !== 0) continue
      this.#isWhole = value !== null
      if (value) this.#indexes = decodeWholeTransactionsMark(value).indexes
    }
    if (isOfFeed || !(this.#isWhole || this.#asked === 'whole')) return NOTHING
    this.#knownFrom ??= version - (version % RUN_VERSIONS) + RUN_VERSIONS
    if (!readWhole) return this.#withoutRead(version)
    const whole = readWhole()
    const given = this.#begin(version)
    if (!this.#isOfSlice(writes, whole)) return [...given, ...this.#cutEarlier(version)]
    this.#group ??= new TransactionGroup(version, this.#place, this.#indexes)
    this.#isEarlierCut = true
    const made = [...given, ...this.#group.add(version, whole, writes, { timestampUsec: this.#timestampUsec })]
    if (this.#place === 'own' && !this.#hasRetained) {
      this.#hasRetained = true
      made.push([RETAINED_KEY, encodeRetained(version, this.#hashSalt())])
    }
    return made
  }

  /**
   * Notes that whole transactions are given since a version, for the first time or again, even if a slice does not keep
   * the one of the version.
   */
  #begin(version: bigint): readonly Write[] {
    if (this.#isWhole && !this.#isCut) return NOTHING
    if (!this.#isWhole && this.#options.hasVersions) {
      this.#options.onNotice(`whole transactions are kept since version ${version}`)
    }
    this.#isWhole = true
    this.#isCut = false
    return [this.#mark(this.#hashSalt())]
  }

  /** @param hashSalt undefined for a gap */
  #mark(hashSalt: string | undefined): Write {
    return [WHOLE_TRANSACTIONS_KEY, encodeWholeTransactionsMark({ hashSalt, indexes: this.#indexes })]
  }

  #hashSalt(): string {
    return this.#options.hashSalt() ?? DEFAULT_HASH_SALT
  }

  /**
   * Whether a slice keeps a transaction: a member sent it, or it changed one, or it has an event of a stream of one. An
   * account can hold the handle of a stream of another account.
   */
  #isOfSlice(
    writes: readonly Write[],
    { transaction, events }: Pick<WholeTransaction, 'transaction' | 'events'>,
  ): boolean {
    const { slice } = this.#options
    if (!slice || writes.some(([key]) => slice.hasMemberOf(key))) return true
    const sent = readSent(transaction)
    if (sent && slice.hasAccount(sent.sender)) return true
    return hasStreamOf(slice, events)
  }

  /** Notes that whole transactions since a version are unknown. */
  #cut(version: bigint): readonly Write[] {
    const earlier = this.#cutEarlier(version)
    if (this.#isCut) return earlier
    this.#isCut = true
    return [this.#mark(undefined), ...earlier]
  }

  /** If a truncation cut a block of transactions, its rest must not count for the versions that follow. */
  #cutEarlier(version: bigint): readonly Write[] {
    if (this.#isEarlierCut || !this.#isWhole) return NOTHING
    this.#isEarlierCut = true
    return [noTransactionWrite(version, this.#place)]
  }

  /**
   * Adds to versions that are committed together the writes of their whole transactions. Each version must have been
   * passed to `writesOf` since the last call.
   */
  withGroups(versions: readonly VersionWrites[]): readonly VersionWrites[] {
    const group = this.#group
    if (!group) return versions
    this.#group = undefined
    const { writes, tooLong } = group.toWrites()
    for (const version of tooLong)
      this.#options.onNotice(`the transaction of version ${version} is too long to be kept`)
    return versions.map((one) => {
      const grouped = writes.get(one.version)
      return grouped ? { ...one, writes: [...one.writes, ...grouped] } : one
    })
  }

  /** The writes of a version whose whole transaction cannot be read. */
  #withoutRead(version: bigint): readonly Write[] {
    if (this.#isCopyOfSlice) return NOTHING
    const isUnknown = this.#options.slice !== undefined && this.#isWhole && version < this.#knownFrom!
    return isUnknown ? this.#cut(version) : this.#withoutWhole(version)
  }

  #withoutWhole(version: bigint): readonly Write[] {
    const why = 'the source does not contain or prove them'
    if (this.#isWhole) {
      this.#isWhole = false
      this.#isCut = false
      this.#options.onNotice(`whole transactions are not kept since version ${version}: ${why}`)
      const end = this.#hasRetained ? [noTransactionWrite(version, 'own')] : []
      return [[WHOLE_TRANSACTIONS_KEY, null], ...end]
    }
    if (!this.#isWholeAbsenceNoticed) this.#options.onNotice(`the store keeps no whole transactions: ${why}`)
    this.#isWholeAbsenceNoticed = true
    return NOTHING
  }

  /** A version that wrote no state needs no facts of its transaction. */
  #factsOf({ version, writes, readTransaction }: LedgerVersion): readonly Write[] {
    if (!this.#isKept && this.#asked === 'none') return this.#follow(writes)
    if (!writes.some(([key]) => !isOwnKey(key))) return this.#follow(writes)
    if (readTransaction) {
      const kept = transactionToBytes(readTransaction(), this.#functions)
      return this.#keep(version, [transactionKey(version), kept])
    }
    if (writes.some(([key]) => isTransactionKey(key))) return this.#follow(writes)
    return this.#isKept ? this.#end(version) : this.#noticeAbsence()
  }

  #keep(version: bigint, write: Write): readonly Write[] {
    if (this.#isKept) return [write]
    this.#isKept = true
    if (this.#options.hasVersions) {
      this.#options.onNotice(
        `transactions are known since version ${version}; transactions of earlier versions are unknown`,
      )
    }
    return [[TRANSACTIONS_KEY, KEPT], write]
  }

  #end(version: bigint): readonly Write[] {
    this.#isKept = false
    this.#options.onNotice(`transactions are unknown since version ${version}: the source does not contain them`)
    return [[TRANSACTIONS_KEY, null]]
  }

  #noticeAbsence(): readonly Write[] {
    if (!this.#isAbsenceNoticed)
      this.#options.onNotice('the store keeps no transactions: the source does not contain them')
    this.#isAbsenceNoticed = true
    return NOTHING
  }

  /**
   * Follows a feed of another store, which has its transactions among its writes, and says there where they begin and
   * end.
   */
  #follow(writes: readonly Write[]): readonly Write[] {
    for (const [key, value] of writes) {
      if (isOwnKey(key) && compareBytes(key, TRANSACTIONS_KEY) === 0) this.#isKept = value !== null
    }
    return NOTHING
  }
}

/** Whether a list of events has one of a stream of a member. */
function hasStreamOf(slice: MemberTest, events: Uint8Array): boolean {
  const reader = new ByteReader(events)
  for (let rest = reader.readLength(); rest > 0; rest--) {
    const { key } = readEventHead(reader)
    if (key && slice.hasAccount(key.address)) return true
  }
  return false
}
