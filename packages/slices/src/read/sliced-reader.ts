import { ADDRESS_LENGTH, type KeyedEntry } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import {
  type Block,
  type HistoryOptions,
  type LedgerSummary,
  nearestInHistory,
  nearestWrite,
  type Revision,
  type ScanOptions,
  type SearchingReader,
  type StateEntry,
  type StateReader,
  type StateView,
  type StoreBase,
  type WriteSearch,
} from '@ledger-state/engine'
import {
  annotationToNote,
  canNoteDeletion,
  decodeMember,
  isOwnKey,
  type MemberKind,
  memberKey,
  sliceDeletionKey,
} from '@ledger-state/records'
import { accountKeyPrefix, decodeStateKey, isModuleKey, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import { notListedInSlice, versionPruned } from '../errors.js'
import { isFrameworkAt } from '../spec/always-kept.js'
import type { SliceRecord } from '../spec/slice-record.js'
import { matchesType } from '../spec/type-pattern.js'

const ACCESS_PATH = 0
const TABLE_ITEM = 1
/** Offset of the address or handle in a key. */
const ID_AT = 1
const ID_END = ID_AT + ADDRESS_LENGTH

/** First version with kept writes of a key, or `always`, or `never`. */
type Kept = 'always' | 'never' | bigint

/**
 * The reads of a store that keeps a slice of its ledger. Only this class enforces the rule that unknown is not absent.
 * A value in the store is the value in the whole ledger. If the store has no value, this reader throws
 * `version_pruned`, unless the whole ledger has none either.
 */
export class SlicedReader implements SearchingReader {
  readonly inner: StateReader
  readonly #slice: SliceRecord
  /**
   * Owner of the object that is read, for a read on behalf of an account. Errors then name the account, not the object.
   */
  readonly #owner: Uint8Array | undefined
  #last: SlicedView | undefined

  constructor(inner: StateReader, slice: SliceRecord, owner?: Uint8Array) {
    this.inner = inner
    this.#slice = slice
    this.#owner = owner
  }

  /**
   * A reader for objects that were first owned by an account, such as its primary stores. If the slice has kept the
   * account from the beginning, it has all such objects, and the reader reads the store directly. Otherwise its errors
   * name the owner.
   */
  readerOfOwned(owner: Uint8Array): StateReader {
    return this.#isWholeAccount(owner) ? this.inner : this.#ofOwner(owner)
  }

  /**
   * Same as `readerOfOwned`, at the version of a view.
   * @param stored view of the store, as `SlicedView.inner`
   */
  viewOfOwned(stored: StateView, owner: Uint8Array): StateView {
    return this.#isWholeAccount(owner) ? stored : new SlicedView(stored, this.#ofOwner(owner))
  }

  #ofOwner(owner: Uint8Array): SlicedReader {
    return new SlicedReader(this.inner, this.#slice, owner)
  }

  get ledger(): LedgerSummary | undefined {
    return this.inner.ledger
  }

  get base(): StoreBase | undefined {
    return this.inner.base
  }

  at(version?: bigint): SlicedView {
    const view = this.inner.at(version)
    // All holders of one view get the same answer.
    if (this.#last?.inner !== view) this.#last = new SlicedView(view, this)
    return this.#last
  }

  blockAt(version: bigint): Block {
    return this.inner.blockAt(version)
  }

  blockByHeight(height: bigint): Block | undefined {
    return this.inner.blockByHeight(height)
  }

  blockAtTime(timestampUsec: bigint): Block | undefined {
    return this.inner.blockAtTime(timestampUsec)
  }

  /** Yields the kept revisions, and throws if the range has more that is not known. */
  *history(key: Uint8Array, options: HistoryOptions = {}): Generator<Revision> {
    const { first = 0n, order } = options
    if (order === 'asc') this.#expectHistoryKnown(key, first)
    yield* this.#keptHistory(key, options)
    if (order !== 'asc') this.#expectHistoryKnown(key, first)
  }

  /**
   * Same as `SearchingReader.nearestWrite`, for a key with known state at the start of the search: a write in the store
   * is then the nearest one of the whole ledger. If the store has no write, the history shows whether there was none or
   * whether that is unknown, since it may have noted a deletion.
   */
  nearestWrite(key: Uint8Array, search: WriteSearch): bigint | null | undefined {
    const found = nearestWrite(this.inner, key, search)
    return found === null ? nearestInHistory(this, key, search) : found
  }

  /** The history in the store and, before it, the noted deletion of a value that the store never had. */
  *#keptHistory(key: Uint8Array, options: HistoryOptions): Generator<Revision> {
    const { first = 0n, last, order } = options
    const kept = this.inner.history(key, options)
    const deleted = this.#firstDeletion(key)
    const isAsked = deleted !== undefined && deleted >= first && (last === undefined || deleted <= last)
    // A store prunes its notes at or below its oldest version, so it has none there.
    if (!isAsked || deleted <= this.inner.ledger!.oldestVersion) return yield* kept
    let earliest: bigint | undefined
    for (const revision of kept) {
      if (order === 'asc' && earliest === undefined && revision.version > deleted)
        yield { version: deleted, value: null }
      earliest = earliest === undefined || revision.version < earliest ? revision.version : earliest
      yield revision
    }
    if (earliest === undefined || (order !== 'asc' && earliest > deleted)) yield { version: deleted, value: null }
  }

  /**
   * First version with a note that it deleted a key of a member that is not known whole. Undefined if there is none, or
   * the member is whole.
   */
  #firstDeletion(key: Uint8Array): bigint | undefined {
    const noted = isOwnKey(key) ? undefined : sliceDeletionKey(key)
    if (noted) for (const { version } of this.inner.history(noted, { order: 'asc' })) return version
    return undefined
  }

  /**
   * Checks that all writes of a key since version `first` are known, and its value at the beginning of the window.
   * @throws `version_pruned`
   */
  #expectHistoryKnown(key: Uint8Array, first: bigint): void {
    const kept = this.#keptOf(key)
    if (kept === 'always') return
    const { oldestVersion } = this.inner.ledger!
    if (kept === 'never') throw versionPruned.notInSlice(this.#askedFor(key), oldestVersion, oldestVersion)
    const isKnown =
      first > oldestVersion ? this.#areWritesKnown(key, first, kept) : this.#isKnownFrom(key, oldestVersion, kept)
    if (!isKnown) {
      const version = first > oldestVersion ? first : oldestVersion
      throw versionPruned.keptSince(key, kept, version, oldestVersion, this.#askedFor(key))
    }
  }

  /**
   * Checks that a key without a value in the store had none in the ledger.
   * @throws `version_pruned` if that is not known
   */
  expectAbsent(key: Uint8Array, version: bigint): void {
    const kept = this.#keptOf(key)
    if (kept === 'always') return
    const { oldestVersion } = this.inner.ledger!
    if (kept === 'never') throw versionPruned.notInSlice(this.#askedFor(key), version, oldestVersion)
    if (!this.#isKnownFrom(key, version, kept)) {
      throw versionPruned.keptSince(key, kept, version, oldestVersion, this.#askedFor(key))
    }
  }

  /**
   * Checks that the store has all keys with a prefix.
   * @throws `version_pruned` if some may be missing
   */
  expectListed(prefix: Uint8Array, version: bigint): void {
    if (isOwnKey(prefix)) return
    const { oldestVersion } = this.inner.ledger!
    const kept = prefix.length >= ID_END ? this.#memberKept(prefix) : undefined
    if (kept === 'always') return
    if (kept === undefined || kept === 'never') throw notListedInSlice(prefix, version, oldestVersion)
    throw versionPruned.keptSince(prefix, kept, version, oldestVersion)
  }

  /**
   * Checks that the slice has kept an account from the beginning, and therefore every object that the account owns.
   * @throws `version_pruned`
   */
  expectWholeAccount(address: Uint8Array, version: bigint): void {
    if (this.#isWholeAccount(address)) return
    const { oldestVersion } = this.inner.ledger!
    const record = this.#memberRecord('account', address)
    const prefix = accountKeyPrefix(address)
    throw record
      ? versionPruned.keptSince(prefix, record.since, version, oldestVersion)
      : versionPruned.notInSlice(prefix, version, oldestVersion)
  }

  /**
   * Checks that the slice has kept an account, an object or a table from the beginning, and therefore every transaction
   * that an account sent or that changed one of these.
   * @throws `version_pruned`
   */
  expectWholeMember(id: Uint8Array, version: bigint): void {
    if (this.#memberRecord('table', id)?.isWhole !== true) this.expectWholeAccount(id, version)
  }

  /**
   * Checks that the slice keeps all resources of a type, at any address.
   * @throws `version_pruned`
   */
  expectTypeKept(type: StructTag, version: bigint): void {
    if (this.#slice.types.some((pattern) => matchesType(pattern, type))) return
    throw versionPruned.typeNotInSlice(
      typeTagToText({ ...type, typeArguments: [] }),
      version,
      this.inner.ledger!.oldestVersion,
    )
  }

  /**
   * Whether an account has been in the slice from the beginning. Then the slice has every object that was first owned
   * by the account: an object that the slice lacks at a version did not exist.
   */
  #isWholeAccount(address: Uint8Array): boolean {
    return this.#memberRecord('account', address)?.isWhole === true
  }

  /** Whether all writes of a key since version `first` are known, for a member with writes kept since a version. */
  #areWritesKnown(key: Uint8Array, first: bigint, since: bigint): boolean {
    if (first < since) return false
    // If the store never had a key, only a note shows its deletion. Once the store had it, the store has each deletion.
    return canNoteDeletion(key) || this.#hasWriteUntil(key, first)
  }

  #hasWriteUntil(key: Uint8Array, version: bigint): boolean {
    for (const _ of this.inner.history(key, { last: version, order: 'desc' })) return true
    return false
  }

  /**
   * Whether the state of a key at a version is known, for a member with writes kept since a version. Either of two
   * writes shows the state: the newest one at or below the version, or the first one above it, which says whether the
   * key existed before.
   */
  #isKnownFrom(key: Uint8Array, version: bigint, since: bigint): boolean {
    if (this.#hasWriteUntil(key, version)) return true
    const deleted = this.#firstDeletion(key)
    if (deleted !== undefined && deleted <= version) return true
    // All writes since `since` are kept. A key that did not exist just before a later write therefore did not exist
    // since `since` − 1.
    if (version + 1n < since) return false
    for (const { version: next, value, annotation } of this.inner.history(key, { first: version + 1n, order: 'asc' })) {
      if (value === null || !annotationToNote(annotation).isCreation) return false
      // If a deletion in between could not be noted, it left no trace.
      return canNoteDeletion(key) ? deleted === undefined || deleted > next : next === version + 1n
    }
    return false
  }

  /** State key, or prefix, that a slice must ask for so that it keeps a key. */
  #askedFor(key: Uint8Array): Uint8Array {
    return this.#owner && key[0] === ACCESS_PATH ? accountKeyPrefix(this.#owner) : key
  }

  #keptOf(key: Uint8Array): Kept {
    const kind = key[0]
    if (isOwnKey(key)) return 'always'
    if ((kind !== ACCESS_PATH && kind !== TABLE_ITEM) || key.length < ID_END) return 'never'
    if (isModuleKey(key)) return 'always'
    const kept = this.#memberKept(key)
    return kept !== 'always' && this.#isOfKeptType(key) ? 'always' : kept
  }

  /**
   * Way in which the slice keeps the member with a key.
   * @param key a state key, or a prefix of one
   */
  #memberKept(key: Uint8Array): Kept {
    if (key[0] === ACCESS_PATH && isFrameworkAt(key, ID_AT)) return 'always'
    const kind = key[0] === TABLE_ITEM ? 'table' : 'account'
    const record = this.#memberRecord(kind, copyBytes(key, ID_AT, ID_END))
    if (!record) return 'never'
    return record.isWhole ? 'always' : record.since
  }

  #memberRecord(kind: MemberKind, id: Uint8Array) {
    const stored = this.inner.at().get(memberKey(kind, id))
    return stored && decodeMember(stored)
  }

  #isOfKeptType(key: Uint8Array): boolean {
    const { types } = this.#slice
    if (types.length === 0 || key[0] !== ACCESS_PATH) return false
    const decoded = decodeStateKey(key)
    return decoded.kind === 'resource' && types.some((pattern) => matchesType(pattern, decoded.tag))
  }
}

/** The state at one version of a slice. */
export class SlicedView implements StateView {
  readonly version: bigint
  readonly inner: StateView
  readonly #reader: SlicedReader

  constructor(inner: StateView, reader: SlicedReader) {
    this.version = inner.version
    this.inner = inner
    this.#reader = reader
  }

  get ledger(): LedgerSummary {
    return this.inner.ledger
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.inner.get(key) ?? this.#absent(key)
  }

  peek(key: Uint8Array): Uint8Array | undefined {
    return this.inner.peek(key) ?? this.#absent(key)
  }

  getEntry(key: Uint8Array): StateEntry | undefined {
    return this.inner.getEntry(key) ?? this.#absent(key)
  }

  scan(prefix: Uint8Array, options?: ScanOptions): Iterable<KeyedEntry> {
    this.#reader.expectListed(prefix, this.version)
    return this.inner.scan(prefix, options)
  }

  #absent(key: Uint8Array): undefined {
    this.#reader.expectAbsent(key, this.version)
  }
}
