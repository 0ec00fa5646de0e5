import { ADDRESS_LENGTH, addressToShortHex, isLedgerStateError, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { readResourceGroup } from '@ledger-state/move-module'
import {
  decodeMember,
  decodeValueType,
  encodeMember,
  encodeValueType,
  isHoldingsKey,
  isOwnKey,
  isWholeTransactionKey,
  MEMBER_ID_AT,
  MEMBER_REASONS,
  type MemberKind,
  type MemberReason,
  memberKey,
  memberKindOf,
  SLICE_KEY,
  sliceDeletionKey,
  sliceTypeKey,
  sliceTypeNumberOf,
} from '@ledger-state/records'
import { decodeStateKey, type StructTag, type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import { isFrameworkAt } from '../spec/always-kept.js'
import { decodeSliceRecord, encodeSliceRecord } from '../spec/slice-record.js'
import type { SliceSpec } from '../spec/slice-spec.js'
import { matchesType, type TypePattern } from '../spec/type-pattern.js'
import { MemberSet } from './member-set.js'
import { ModuleBook } from './module-book.js'
import { ownersInGroup } from './object-owner.js'
import { type FoundTable, TableFinder } from './table-finder.js'
import { UntypedItems } from './untyped-items.js'

const ACCESS_PATH = 0
const TABLE_ITEM = 1
const ID_AT = 1
const PATH_LENGTH_AT = ID_AT + ADDRESS_LENGTH
const PATH_MODULE = 0
const PATH_RESOURCE = 1
const PATH_GROUP = 2

const NOTHING = new Uint8Array(0)

/** Flag of a member that is known whole; the other bits are its reason. */
const WHOLE = 0x80

/** Counts of members, and of values that could not be read. */
export interface SliceCounts {
  readonly accounts: number
  readonly tables: number
  /** Number of values with an unknown or mismatched type: tables in them are not found. */
  readonly unread: number
}

/** State of a keeper at a moment; argument of `joinedAfter`. */
export interface JoinMoment {
  readonly accounts: number
  readonly tables: number
  readonly typed: number
}

/**
 * Decides which writes a slice keeps, version by version, and remembers who joins. It keeps all modules, because it
 * cannot know which of them a later value will need.
 */
export class SliceKeeper {
  readonly #accounts = new MemberSet()
  readonly #tables = new MemberSet()
  readonly #types: TypeTag[] = []
  readonly #typeNumbers = new Map<string, number>()
  readonly #patterns: readonly TypePattern[]
  readonly #book = new ModuleBook()
  readonly #finder = new TableFinder(this.#book)
  readonly #untyped = new UntypedItems()
  /** Numbers of tables with items to be searched again. */
  #typedLate: number[] = []
  /**
   * Version that the store begins with. Undefined once the store has more versions: a member that joins then is not
   * known whole.
   */
  readonly #firstVersion: bigint | undefined
  #version = 0n
  #joined = 0
  #unread = 0
  /** Record of the requested slice, until the store has it. */
  #asked: Uint8Array | undefined
  /** How many members and types the store has; those with the lowest numbers. */
  readonly #recorded = { account: 0, table: 0, type: 0 }
  /** Tables with types that became known after the store had the tables. */
  #typed: number[] = []

  private constructor(patterns: readonly TypePattern[], firstVersion: bigint | undefined) {
    this.#patterns = patterns
    this.#firstVersion = firstVersion
  }

  /** Begins a slice for a store that begins with version `firstVersion`. */
  static begin(spec: SliceSpec, firstVersion: bigint): SliceKeeper {
    const keeper = new SliceKeeper(spec.types, firstVersion)
    keeper.#version = firstVersion
    keeper.#asked = encodeSliceRecord(spec)
    for (const address of spec.accounts) keeper.#join('account', address, 'asked', 0)
    for (const handle of spec.tables) keeper.#join('table', handle, 'asked', 0)
    return keeper
  }

  /**
   * Resumes the slice of a store.
   * @param record value under `SLICE_KEY`; `restore` takes the values under the other keys
   */
  static resume(record: Uint8Array): SliceKeeper {
    return new SliceKeeper(decodeSliceRecord(record).types, undefined)
  }

  /** Takes the store's value under a key of its slice. */
  restore(key: Uint8Array, value: Uint8Array): void {
    const number = sliceTypeNumberOf(key)
    const kind = memberKindOf(key)
    if (number !== undefined) {
      const tag = decodeValueType(value)
      this.#types[number - 1] = tag
      this.#typeNumbers.set(typeTagToText(tag), number)
      if (this.#recorded.type === number - 1) this.#recorded.type = number
    } else if (kind) {
      const { reason, isWhole, since, valueType = 0 } = decodeMember(value)
      const set = this.#setOf(kind)
      const held = set.find(key, MEMBER_ID_AT)
      if (held >= 0) set.setValueType(held, valueType)
      else {
        const added = set.add(key, MEMBER_ID_AT, Number(since), flagsOf(reason, isWhole), valueType)
        if (this.#recorded[kind] === added) this.#recorded[kind] = added + 1
      }
    }
  }

  get counts(): SliceCounts {
    return { accounts: this.#accounts.size, tables: this.#tables.size, unread: this.#unread }
  }

  /**
   * The writes of a version that the slice keeps. If `lacking` has keys or `typedLate` has tables afterwards, the
   * result must not be used: the caller provides the keys, looks through the tables, and calls again.
   */
  keep(version: bigint, writes: readonly Write[]): readonly Write[] {
    for (const [key, value] of writes) if (isModule(key)) this.#book.put(key, value)
    return this.#sift(version, writes, this.#untyped)
  }

  /**
   * Decides as `keep` about entries of the state that a store begins with. The caller provides lacking modules from
   * anywhere in the state, and passes all entries again until no member joins.
   */
  keepEntries(version: bigint, entries: readonly Write[]): readonly Write[] {
    const kept = this.#sift(version, entries, undefined)
    this.#typedLate = []
    return kept
  }

  /**
   * Handles of requested tables with types that became known only now. For each of them, the caller passes the items in
   * the store to `lookAgain`, and then calls `endLook`.
   */
  get typedLate(): readonly Uint8Array[] {
    return this.#typedLate.map((number) => this.#tables.id(number))
  }

  /**
   * Finds the tables in items of the store. If `lacking` has keys afterwards, the caller provides them and calls again.
   */
  lookAgain(items: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]): void {
    this.#counted(() => {
      for (const { key, value } of items) {
        if (!this.#untyped.has(this.#tables.find(key, ID_AT), key)) this.#lookInto([key, value], undefined)
      }
    })
  }

  /**
   * Ends the look through a table of `typedLate`. If `lacking` has keys afterwards, the caller provides them and calls
   * again.
   */
  endLook(handle: Uint8Array): void {
    const number = this.#tables.find(handle, 0)
    this.#counted(() => {
      for (const write of this.#untyped.writesOf(number)) this.#lookInto(write, undefined)
    })
    if (this.#book.lacking.length === 0) this.#typedLate = this.#typedLate.filter((other) => other !== number)
  }

  /** Number of times that a member joined or was found to hold more. */
  get joined(): number {
    return this.#joined
  }

  /** The present moment, for a later `joinedAfter`. Take it before `takeRecords` is called. */
  get moment(): JoinMoment {
    return { accounts: this.#accounts.size, tables: this.#tables.size, typed: this.#typed.length }
  }

  /** The members that joined or were found to hold more after a moment, as the lines of a specification. */
  *joinedAfter({ accounts, tables, typed }: JoinMoment): Generator<string> {
    for (let at = accounts; at < this.#accounts.size; at++) yield addressToShortHex(this.#accounts.id(at))
    for (let at = tables; at < this.#tables.size; at++) yield `table ${addressToShortHex(this.#tables.id(at))}`
    for (const number of this.#typed.slice(typed)) {
      if (number < tables) yield `table ${addressToShortHex(this.#tables.id(number))}`
    }
  }

  /** Keys of modules that were needed and are not loaded. */
  get lacking(): readonly Uint8Array[] {
    return this.#book.lacking
  }

  /** Gives the value of a lacking key; undefined if it has none. */
  provide(key: Uint8Array, code: Uint8Array | undefined): void {
    this.#book.provide(key, code)
  }

  /** Forgets a provided module. */
  forget(key: Uint8Array): void {
    this.#book.forget(key)
  }

  /** Notes that the store now has all versions that were kept. */
  settle(): void {
    this.#book.settle()
    this.#untyped.clear()
  }

  /**
   * Yields the records of the slice that the store has to write since the last call. They come one by one, so that ten
   * million are not in memory at once.
   */
  *takeRecords(): Generator<Write> {
    if (this.#asked) yield [SLICE_KEY, this.#asked]
    this.#asked = undefined
    for (const recorded = this.#recorded; recorded.type < this.#types.length; recorded.type++) {
      yield [sliceTypeKey(recorded.type + 1), encodeValueType(this.#types[recorded.type]!)]
    }
    for (const number of new Set(this.#typed)) if (number < this.#recorded.table) yield this.#recordOf('table', number)
    this.#typed = []
    for (const kind of ['account', 'table'] as const) {
      for (const set = this.#setOf(kind); this.#recorded[kind] < set.size; this.#recorded[kind]++) {
        yield this.#recordOf(kind, this.#recorded[kind])
      }
    }
  }

  /**
   * Sifts the writes of a version.
   * @param untyped receives items of tables with no known type before this version
   */
  #sift(version: bigint, writes: readonly Write[], untyped: UntypedItems | undefined): readonly Write[] {
    this.#version = version
    const kept: Write[] = []
    const before = this.#unread
    this.#counted(() => {
      for (let rest = writes; ; ) {
        const joined = this.#joined
        const outside: Write[] = []
        for (const write of rest) {
          if (!this.#isKept(write)) {
            outside.push(write)
            continue
          }
          kept.push(write)
          this.#lookInto(write, untyped)
        }
        // Members that joined just now may have writes earlier in this version.
        if (this.#joined === joined) break
        rest = outside
      }
    })
    if (this.#typedLate.length > 0) this.#unread = before
    return kept
  }

  /** Does work that is repeated if something is lacking afterwards, so that values that cannot be read count once. */
  #counted(work: () => void): void {
    const before = this.#unread
    work()
    if (this.#book.lacking.length > 0) this.#unread = before
  }

  /** Whether the slice, with its present members, keeps the writes of a key. */
  has(key: Uint8Array): boolean {
    switch (key[0]) {
      case ACCESS_PATH: {
        const kindAt = pathKindAt(key)
        if (key[kindAt] === PATH_MODULE || isFrameworkAt(key, ID_AT)) return true
        if (this.#accounts.find(key, ID_AT) >= 0) return true
        return key[kindAt] === PATH_RESOURCE && this.#patterns.length > 0 && this.#isOfKeptType(key, kindAt)
      }
      case TABLE_ITEM:
        return this.#tables.find(key, ID_AT) >= 0
      default:
        // A slice lacks values that whole transactions have written.
        return isOwnKey(key) && !isHoldingsKey(key) && !isWholeTransactionKey(key)
    }
  }

  /** Whether an account or object is a member. */
  hasAccount(address: Uint8Array): boolean {
    return this.#accounts.find(address, 0) >= 0
  }

  /** Whether a state key belongs to an account, an object or a table that is a member. */
  hasMemberOf(key: Uint8Array): boolean {
    if (key[0] === ACCESS_PATH) return this.#accounts.find(key, ID_AT) >= 0
    return key[0] === TABLE_ITEM && this.#tables.find(key, ID_AT) >= 0
  }

  /** Notes that the store needs about deletions among kept writes. */
  deletionsIn(kept: readonly Write[]): readonly Write[] {
    return kept.flatMap(([key, value]): Write[] => {
      const noted = value === null && this.#isOfLateMember(key) ? sliceDeletionKey(key) : undefined
      return noted ? [[noted, NOTHING]] : []
    })
  }

  /** Whether a kept key belongs to a member that is not known whole. */
  #isOfLateMember(key: Uint8Array): boolean {
    if (isOwnKey(key) || isModule(key)) return false
    const set = key[0] === TABLE_ITEM ? this.#tables : this.#accounts
    const number = set.find(key, ID_AT)
    return number >= 0 && (set.flags(number) & WHOLE) === 0
  }

  #isKept([key, value]: Write): boolean {
    if (this.has(key)) return true
    return (
      value !== null && key[0] === ACCESS_PATH && key[pathKindAt(key)] === PATH_GROUP && this.#joinsByGroup(key, value)
    )
  }

  /** Whether an object joins, because its owner is kept or a resource in its group has a kept type. */
  #joinsByGroup(key: Uint8Array, group: Uint8Array): boolean {
    const reason: MemberReason | undefined = ownersInGroup(group).some((owner) => this.#accounts.find(owner, 0) >= 0)
      ? 'owner'
      : this.#patterns.length > 0 && this.#hasKeptType(group)
        ? 'type'
        : undefined
    if (!reason) return false
    this.#join('account', key.subarray(ID_AT, PATH_LENGTH_AT), reason, 0)
    return true
  }

  #hasKeptType(group: Uint8Array): boolean {
    return membersOf(group).some(({ name }) => this.#patterns.some((pattern) => matchesType(pattern, name)))
  }

  #isOfKeptType(key: Uint8Array, kindAt: number): boolean {
    const address = key.subarray(kindAt + 1, kindAt + 1 + ADDRESS_LENGTH)
    if (!this.#patterns.some((pattern) => compareBytes(pattern.address, address) === 0)) return false
    const tag = tagOf(key)
    return tag !== undefined && this.#patterns.some((pattern) => matchesType(pattern, tag))
  }

  /**
   * Finds the tables in a kept value, which then join.
   * @param untyped receives an item with no known type before this version
   */
  #lookInto([key, value]: Write, untyped: UntypedItems | undefined): void {
    if (key[0] === TABLE_ITEM) {
      const number = this.#tables.find(key, ID_AT)
      const type = this.#types[this.#tables.valueType(number) - 1]
      if (!type || this.#typedLate.includes(number)) untyped?.note(number, key, value)
      if (type && value !== null) this.#joinTables(type, value)
      return
    }
    if (value === null || key[0] !== ACCESS_PATH) return
    const kind = key[pathKindAt(key)]
    if (kind === PATH_MODULE) return
    if (kind !== PATH_RESOURCE) {
      for (const { name, bytes } of membersOf(value)) this.#joinTables(name, bytes)
      return
    }
    const tag = tagOf(key)
    if (tag) this.#joinTables(tag, value)
  }

  #joinTables(type: TypeTag, value: Uint8Array): void {
    const found: FoundTable[] = []
    if (!this.#finder.find(type, value, found)) this.#unread++
    for (const { handle, valueType } of found) {
      const number = this.#tables.find(handle, 0)
      if (number < 0) this.#join('table', handle, 'handle', this.#numberOf(valueType))
      else if (this.#tables.valueType(number) === 0) {
        // The table was asked for by its handle, and its type is known now.
        this.#tables.setValueType(number, this.#numberOf(valueType))
        this.#typed.push(number)
        this.#joined++
        if (this.#finder.mayHold(valueType)) this.#typedLate.push(number)
      }
    }
  }

  #join(kind: MemberKind, id: Uint8Array, reason: MemberReason, valueType: number): void {
    const isWhole = this.#version === this.#firstVersion
    this.#setOf(kind).add(id, 0, Number(this.#version), flagsOf(reason, isWhole), valueType)
    this.#joined++
  }

  #setOf(kind: MemberKind): MemberSet {
    return kind === 'account' ? this.#accounts : this.#tables
  }

  #recordOf(kind: MemberKind, number: number): Write {
    const set = this.#setOf(kind)
    const [flags, valueType] = [set.flags(number), set.valueType(number)]
    const value = encodeMember({
      reason: MEMBER_REASONS[flags & ~WHOLE]!,
      isWhole: (flags & WHOLE) !== 0,
      since: BigInt(set.since(number)),
      valueType: valueType === 0 ? undefined : valueType,
    })
    return [memberKey(kind, set.id(number)), value]
  }

  #numberOf(type: TypeTag): number {
    const text = typeTagToText(type)
    const known = this.#typeNumbers.get(text)
    if (known !== undefined) return known
    const number = this.#types.push(type)
    this.#typeNumbers.set(text, number)
    return number
  }
}

function flagsOf(reason: MemberReason, isWhole: boolean): number {
  return MEMBER_REASONS.indexOf(reason) | (isWhole ? WHOLE : 0)
}

/** Offset of the kind of the path in a key of an account, after the length of the path. */
function pathKindAt(key: Uint8Array): number {
  let at = PATH_LENGTH_AT
  while (key[at]! >= 0x80) at++
  return at + 1
}

function isModule(key: Uint8Array): boolean {
  return key[0] === ACCESS_PATH && key[pathKindAt(key)] === PATH_MODULE
}

function tagOf(key: Uint8Array): StructTag | undefined {
  try {
    const decoded = decodeStateKey(key)
    return decoded.kind === 'resource' ? decoded.tag : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

function membersOf(group: Uint8Array) {
  try {
    return readResourceGroup(group)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return []
    throw error
  }
}
