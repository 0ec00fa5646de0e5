// A random ledger with a bit of everything that a stream can filter, and the selection of each filter. The model keeps
// the intended values of every version of every branch, and never reads an engine.
import { atOnce, ByteWriter, bytesToHex, parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { branchOf, createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { SyntheticChain } from '@ledger-state/feed/testing/synthetic-chain'
import { createLedger, writeToJson } from '@ledger-state/ledger'
import { CLOCK_KEY, GENESIS, HELD, SECOND, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { AccumulatorFrontier, LedgerHasher } from '@ledger-state/proof'
import type { WholeTransaction } from '@ledger-state/records'
import { coinStoreKey, objectKey, WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { TransactionGroup } from '@ledger-state/records/transaction-group'
import type { Random } from '@ledger-state/testing/random'
import {
  parseStructTag,
  parseTypeTag,
  resourceKey,
  tableItemKey,
  writeStructTag,
  writeTypeTag,
} from '@ledger-state/type-tag'

const long = (short: string): string => `0x${short.padStart(64, '0')}`

export const CHAIN_ID = 4n
const TABLES = ['7ab1e', '7ab1f'].map(long)
const ACCOUNTS = ['0xa1', '0xa2', '0xa3']
const OBJECTS = ['d1', 'd2', 'd3'].map(long)
const ASSETS = ['fa1', 'fa2'].map(long)
const COIN = '0xc0ffee::bean::Bean'
const OTHER_COIN = '0xc0ffee::bean::Pod'
const RESOURCE = '0x42::main::R'
/** The second type of events has no module, so its data are hex. */
const EVENT_TYPES = [RESOURCE, '0x42::gone::E']
const HASH_SALT = 'APTOS::'
const MOST_TRUNCATIONS = 12

/** An object that has some amount of an asset, and a resource in its group. */
interface MadeObject {
  readonly owner: string
  readonly store: { readonly asset: string; readonly amount: bigint } | undefined
  readonly held: number | undefined
}

type Made =
  | { readonly kind: 'item'; readonly table: string; readonly at: number; readonly is: number | undefined }
  | { readonly kind: 'held'; readonly at: string; readonly is: number | undefined }
  | { readonly kind: 'object'; readonly at: string; readonly is: MadeObject | undefined }
  | { readonly kind: 'coin'; readonly at: string; readonly coin: string; readonly is: bigint | undefined }
  | { readonly kind: 'clock'; readonly is: bigint }

/** A version of the ledger. */
export interface MadeVersion {
  readonly version: bigint
  readonly timestampUsec: bigint
  readonly height: bigint
  readonly isBlock: boolean
  /** The version before it, on its branch. */
  readonly parent: MadeVersion | undefined
  readonly changes: readonly Made[]
  readonly events: readonly { readonly type: string; readonly value: number }[]
  /** The JSON of the change of each write, from a ledger that has this version as its latest. */
  readonly json: ReadonlyMap<Made, readonly string[]>
}

/** An entry of a stream: a version, and the texts of its parts in an order of their own. */
export interface ExpectedEntry {
  readonly version: string
  readonly timestamp: string
  readonly parts: readonly string[]
}

export interface StreamFilter {
  /** The parameters of the request. */
  readonly query: string
  /** The parts that an entry has of a version; undefined if it has no entry. */
  partsOf(one: MadeVersion): readonly string[] | undefined
}

function keyOf(made: Made): Uint8Array {
  switch (made.kind) {
    case 'item':
      return tableItemKey(parseAddress(made.table), Uint8Array.of(made.at))
    case 'held':
      return resourceKey(parseAddress(made.at), HELD)
    case 'object':
      return objectKey(parseAddress(made.at))
    case 'coin':
      return coinStoreKey(parseAddress(made.at), parseStructTag(made.coin))
    case 'clock':
      return CLOCK_KEY
  }
}

const NO_EVENTS = new Uint8Array(48)

function writtenBy(made: Made): Uint8Array | null {
  if (made.is === undefined) return null
  switch (made.kind) {
    case 'item':
      return Uint8Array.of(made.is)
    case 'held':
    case 'clock':
      return u64(made.is)
    case 'coin':
      return new ByteWriter().u64(made.is).bool(false).bytes(NO_EVENTS).bytes(NO_EVENTS).toBytes()
    case 'object':
      return groupOf(made.is)
  }
}

function groupOf({ owner, store, held }: MadeObject): Uint8Array {
  const core = new ByteWriter().u64(1n).bytes(parseAddress(owner)).bool(true).bytes(NO_EVENTS).toBytes()
  const members: (readonly [string, Uint8Array])[] = [['0x1::object::ObjectCore', core]]
  if (store) {
    const value = new ByteWriter().bytes(parseAddress(store.asset)).u64(store.amount).bool(false).toBytes()
    members.push(['0x1::fungible_asset::FungibleStore', value])
  }
  if (held !== undefined) members.push([RESOURCE, u64(held)])
  const tagged = members.map(([type, value]) => {
    const tag = new ByteWriter()
    writeStructTag(tag, parseStructTag(type))
    return [tag.toBytes(), value] as const
  })
  const group = new ByteWriter().uleb128(members.length)
  for (const [tag, value] of tagged.sort(([a], [b]) => Buffer.compare(a, b))) group.bytes(tag).byteString(value)
  return group.toBytes()
}

const nameOf = (made: Made): string => bytesToHex(keyOf(made))

/** The newest change of a key at or below a version. */
function lastOf<T extends Made>(one: MadeVersion | undefined, name: string): T | undefined {
  for (let at = one; at; at = at.parent) {
    const found = at.changes.find((made) => nameOf(made) === name)
    if (found) return found as T
  }
  return undefined
}

const lastObject = (one: MadeVersion | undefined, at: string) =>
  lastOf<Made & { kind: 'object' }>(one, bytesToHex(objectKey(parseAddress(at))))?.is

const partsOrNone = (parts: readonly string[]): readonly string[] | undefined =>
  parts.length === 0 ? undefined : parts.toSorted()

const short = (address: string): string => `0x${address.slice(2).replace(/^0+/, '')}`

function jsonOf(isSelected: (made: Made) => boolean): StreamFilter['partsOf'] {
  return ({ changes, json }) => partsOrNone(changes.filter(isSelected).flatMap((made) => json.get(made)!))
}

const addressOf = (made: Made): string | undefined =>
  made.kind === 'item' ? undefined : made.kind === 'clock' ? '0x1' : made.at

function itemJson({ table, at, is }: Made & { kind: 'item' }, isTyped: boolean): string {
  const hex = (byte: number) => `0x${byte.toString(16).padStart(2, '0')}`
  const place = { handle: table, key: hex(at) }
  if (is === undefined)
    return JSON.stringify({ ...place, data: isTyped ? { key: at } : null, type: 'delete_table_item' })
  const data = isTyped ? { key: at, value: is } : null
  return JSON.stringify({ ...place, value: hex(is), data, type: 'write_table_item' })
}

/** The change of a resource, which is at an account or in the group of an object. */
function resourceJson(one: MadeVersion, made: Made): string | undefined {
  if (made.kind !== 'held' && made.kind !== 'object') return undefined
  const is = made.kind === 'held' ? made.is : made.is?.held
  if (made.kind === 'object' && is === lastObject(one.parent, made.at)?.held) return undefined
  const address = short(made.at)
  if (is === undefined) return JSON.stringify({ address, resource: RESOURCE, type: 'delete_resource' })
  return JSON.stringify({ address, data: { type: RESOURCE, data: { value: `${is}` } }, type: 'write_resource' })
}

function heldJson(owner: string, asset: string, storage: string, before: bigint, after: bigint): string[] {
  if (before === after) return []
  const change = { before: `${before}`, after: `${after}`, change: `${after - before}` }
  const names = { asset_type: asset, token_standard: asset.includes('::') ? 'v1' : 'v2' }
  return [
    JSON.stringify({ owner_address: long(owner.slice(2)), ...names, storage_id: long(storage.slice(2)), ...change }),
  ]
}

function holderJson(one: MadeVersion, made: Made, asset: string): string[] {
  if (made.kind === 'coin' && made.coin === asset) {
    const before = lastOf<Made & { kind: 'coin' }>(one.parent, nameOf(made))?.is ?? 0n
    return heldJson(made.at, asset, made.at, before, made.is ?? 0n)
  }
  if (made.kind !== 'object') return []
  const held = (of: MadeObject | undefined) =>
    of?.store?.asset === asset ? { owner: of.owner, ...of.store } : undefined
  const [had, has] = [held(lastObject(one.parent, made.at)), held(made.is)]
  if (had?.owner === has?.owner) return has ? heldJson(has.owner, asset, made.at, had!.amount, has.amount) : []
  return [
    ...(had ? heldJson(had.owner, asset, made.at, had.amount, 0n) : []),
    ...(has ? heldJson(has.owner, asset, made.at, 0n, has.amount) : []),
  ]
}

function eventJson(version: bigint, type: string, value: number): string {
  const data = type === RESOURCE ? { value: `${value}` } : bytesToHex(u64(value))
  const guid = { creation_number: '0', account_address: '0x0' }
  return JSON.stringify({ version: `${version}`, guid, sequence_number: '0', type, data })
}

const lastHeld = (one: MadeVersion, at: string): number | undefined =>
  lastOf<Made & { kind: 'held' }>(one, bytesToHex(resourceKey(parseAddress(at), HELD)))?.is

const VIEWS: readonly { readonly name: string; readonly words: readonly string[]; answer(one: MadeVersion): string }[] =
  [
    { name: 'value', words: ['0xa1'], answer: (one) => answerOf(lastHeld(one, '0xa1')) },
    { name: 'holds', words: ['0xa2'], answer: (one) => `[${lastHeld(one, '0xa2') !== undefined}]` },
    {
      name: 'either',
      words: ['0xa2', '0xa1'],
      answer(one) {
        if (lastHeld(one, '0xa2') === undefined) return answerOf(0)
        const value = lastHeld(one, '0xa1')
        return answerOf(value === undefined ? undefined : 2 * value)
      },
    },
    {
      name: 'parity_of_time',
      words: [],
      answer: ({ timestampUsec }) => answerOf(Number((timestampUsec / SECOND) % 2n)),
    },
  ]

const answerOf = (value: number | undefined): string => (value === undefined ? 'error' : JSON.stringify([`${value}`]))

/** A filter of any kind. */
export function randomFilter(random: Random): StreamFilter {
  const table = random.pick([...TABLES, long('dead')])
  const account = random.pick([...ACCOUNTS, ...OBJECTS, '0x1', '0xdead'])
  const asset = random.pick([...ASSETS, COIN, OTHER_COIN])
  const type = random.pick(EVENT_TYPES)
  const view = random.pick(VIEWS)
  const isTyped = random.below(2) === 0
  const hasAccount = random.below(2) === 0
  const resources: StreamFilter['partsOf'] = (one) =>
    partsOrNone(
      one.changes.flatMap((made) => (hasAccount && addressOf(made) !== account ? [] : (resourceJson(one, made) ?? []))),
    )
  return random.pick<StreamFilter>([
    { query: '', partsOf: jsonOf(() => true) },
    { query: `account=${account}`, partsOf: jsonOf((made) => addressOf(made) === account) },
    {
      query: `table=${short(table)}${isTyped ? '&key_type=u8&value_type=u8' : ''}`,
      partsOf: ({ changes }) =>
        partsOrNone(
          changes.flatMap((made) => (made.kind === 'item' && made.table === table ? itemJson(made, isTyped) : [])),
        ),
    },
    { query: `resource_type=${RESOURCE}${hasAccount ? `&account=${account}` : ''}`, partsOf: resources },
    {
      query: `asset_type=${asset}`,
      partsOf: (one) => partsOrNone(one.changes.flatMap((made) => holderJson(one, made, asset))),
    },
    {
      query: `event_type=${type}`,
      partsOf: ({ version, events }) =>
        partsOrNone(events.filter((one) => one.type === type).map(({ value }) => eventJson(version, type, value))),
    },
    {
      query: `view=${encodeURIComponent(
        JSON.stringify({ function: `0x42::main::${view.name}`, type_arguments: [], arguments: view.words }),
      )}`,
      partsOf(one) {
        const answer = view.answer(one)
        return one.parent && view.answer(one.parent) === answer ? undefined : [answer]
      },
    },
  ])
}

interface CommittedLedger {
  readonly branch: number
  readonly latest: bigint
  readonly oldest: bigint
}

/** A ledger, and the time since which all readers have it or a later one. */
interface KnownLedger {
  readonly ledger: CommittedLedger
  readonly since: number
}

/** All versions that the ledger ever had. */
export class StreamLedger {
  readonly #random: Random
  readonly #engine: StateWriter
  /** A ledger that prints each write when its version is the latest. */
  readonly #printer = createMemoryEngine()
  readonly #printed = createLedger(this.#printer)
  readonly #readerLagMs: number
  #committed: KnownLedger[] = [{ ledger: { branch: 0, latest: -1n, oldest: 0n }, since: 0 }]
  /** The versions of each branch, by number. */
  readonly #branches: MadeVersion[][] = [[]]
  /** The version that was left by each truncation: the one with number 1 is the first. */
  readonly #lefts: bigint[] = []
  /** A transaction that no user sent, which each version has with events of its own. */
  readonly #whole: Omit<WholeTransaction, 'events' | 'readFrontier'>
  readonly #frontier = new AccumulatorFrontier(new LedgerHasher(HASH_SALT), 'TransactionAccumulator')
  /** The accumulator of each number of versions. Their transactions are the same. */
  readonly #frontiers: Uint8Array[] = []

  /** @param readerLagMs longest time until a reader has a commit, in milliseconds */
  constructor(random: Random, engine: StateWriter, readerLagMs: number) {
    this.#random = random
    this.#engine = engine
    this.#readerLagMs = readerLagMs
    const chain = new SyntheticChain({ blocks: 1 })
    const { transaction, info, writeSet } = chain.records.at(1)!
    this.#whole = { transaction, info, writeSet, leaf: chain.leaf(1), indexInBlock: undefined }
  }

  get branch(): number {
    return this.#branches.length - 1
  }

  get latest(): bigint {
    return BigInt(this.#branches.at(-1)!.length - 1)
  }

  get oldest(): bigint {
    return this.#engine.ledger!.oldestVersion
  }

  /** The ledger that every reader has by now, or a later one. The writer of a store has a commit before its readers do. */
  get committed(): CommittedLedger {
    const now = performance.now()
    const known = this.#committed.findLastIndex(({ since }) => since <= now)
    this.#committed = this.#committed.slice(known)
    return this.#committed[0]!.ledger
  }

  /** The versions of a branch. The newest ones may not be committed yet. */
  versionsOf(branch: number): readonly MadeVersion[] {
    return this.#branches[branch]!
  }

  /** The versions that were left by the truncations after one branch, up to another one. */
  leftsBetween(branch: number, last: number): readonly bigint[] {
    return this.#lefts.slice(branch, last)
  }

  /** Commits some versions at once. A stream may send them before this resolves. */
  async commit(count: number): Promise<void> {
    const made: MadeVersion[] = []
    const records: (Omit<VersionWrites, 'writes'> & { readonly writes: Write[] })[] = []
    let parent = this.#branches.at(-1)!.at(-1)
    let group: TransactionGroup | undefined
    for (let at = 0; at < count; at++) {
      const { one, writes } = await this.#next(parent)
      const { version, height, timestampUsec } = one
      const whole = { ...this.#whole, events: eventsOf(one), readFrontier: () => this.#frontierAt(version) }
      group ??= new TransactionGroup(version)
      const own = [...writes, ...group.add(version, whole, writes)]
      if (version === 0n) own.push([WHOLE_TRANSACTIONS_KEY, Buffer.from(HASH_SALT)])
      const block = one.isBlock ? { height, epoch: 0n, timestampUsec } : undefined
      records.push({ version, ...(block && { block }), writes: own })
      made.push(one)
      parent = one
    }
    const grouped = group?.toWrites().writes
    for (const { version, writes } of records) writes.push(...(grouped?.get(version) ?? []))
    this.#branches.at(-1)!.push(...made)
    await this.#engine.commit(records, { chainId: CHAIN_ID })
    this.#setCommitted()
  }

  /** Cuts off the versions above one. Too many truncations would be joined in the list of the store. */
  async truncate(): Promise<void> {
    if (this.#lefts.length === MOST_TRUNCATIONS) return
    const { oldest, latest } = this
    const left = oldest + BigInt(this.#random.below(Number(latest - oldest) + 1))
    this.#branches.push(this.#branches.at(-1)!.slice(0, Number(left) + 1))
    this.#lefts.push(left)
    await this.#printer.truncateTo(left)
    await this.#engine.truncateTo(left)
    this.#setCommitted()
  }

  async prune(): Promise<void> {
    await this.#engine.prune(BigInt(2 + this.#random.below(25)))
    this.#setCommitted()
  }

  #setCommitted(): void {
    const held = this.#engine.ledger!
    const ledger = { branch: branchOf(held), latest: held.latestVersion, oldest: held.oldestVersion }
    this.#committed.push({ ledger, since: performance.now() + this.#readerLagMs })
  }

  #frontierAt(version: bigint): Uint8Array {
    while (this.#frontiers.length <= version) {
      this.#frontier.append(this.#whole.leaf)
      this.#frontiers.push(this.#frontier.toBytes())
    }
    return this.#frontiers[Number(version)]!
  }

  async #next(parent: MadeVersion | undefined): Promise<{ readonly one: MadeVersion; readonly writes: Write[] }> {
    const random = this.#random
    const version = parent ? parent.version + 1n : 0n
    const isBlock = !parent || random.below(2) === 0
    const height = parent ? parent.height + (isBlock ? 1n : 0n) : 0n
    const timestampUsec = parent
      ? parent.timestampUsec + (isBlock ? BigInt(random.below(4)) * (SECOND / 2n) : 0n)
      : SECOND
    const changes = new Map<string, Made>()
    if (isBlock) changes.set(bytesToHex(CLOCK_KEY), { kind: 'clock', is: timestampUsec })
    for (let left = random.below(5); left > 0; left--) {
      const made = randomChange(random, parent)
      // An engine keeps no deletion of something that does not exist.
      if (made.is !== undefined || lastOf(parent, nameOf(made))?.is !== undefined) changes.set(nameOf(made), made)
    }
    const events = Array.from({ length: random.below(3) }, () => ({
      type: random.pick(EVENT_TYPES),
      value: random.below(200),
    }))
    const json = new Map<Made, readonly string[]>()
    const one = { version, timestampUsec, height, isBlock, parent, changes: [...changes.values()], events, json }
    const own = one.changes.map((made): Write => [keyOf(made), writtenBy(made)])
    const writes = version === 0n ? [...GENESIS, ...own] : own
    const block = isBlock ? { height, epoch: 0n, timestampUsec } : undefined
    await this.#printer.commit([{ version, ...(block && { block }), writes }], { chainId: CHAIN_ID })
    const state = this.#printed.at()
    for (const made of one.changes) {
      json.set(made, atOnce(writeToJson(state, { key: keyOf(made), value: writtenBy(made) })))
    }
    return { one, writes }
  }
}

function randomChange(random: Random, parent: MadeVersion | undefined): Made {
  const value = random.below(4) === 0 ? undefined : random.below(6)
  const kind = random.pick(['item', 'held', 'object', 'object', 'coin'] as const)
  if (kind === 'item') return { kind, table: random.pick(TABLES), at: random.below(3), is: value }
  if (kind === 'held') return { kind, at: random.pick(ACCOUNTS), is: value }
  const amount = value === undefined ? undefined : BigInt(value)
  if (kind === 'coin') return { kind, at: random.pick(ACCOUNTS), coin: random.pick([COIN, OTHER_COIN]), is: amount }
  const at = random.pick(OBJECTS)
  const before = lastObject(parent, at)
  if (random.below(6) === 0) return { kind, at, is: undefined }
  const store = { asset: random.pick(ASSETS), amount: BigInt(random.below(4)) }
  const made = { owner: random.pick(ACCOUNTS), store: random.below(4) === 0 ? undefined : store, held: value }
  if (!before || random.below(3) === 0) return { kind, at, is: made }
  // Half of the object stays as it is.
  return { kind, at, is: random.below(2) === 0 ? { ...before, store: made.store } : { ...made, held: before.held } }
}

/** The events of a version in BCS. */
function eventsOf({ events }: MadeVersion): Uint8Array {
  const list = new ByteWriter().uleb128(events.length)
  for (const { type, value } of events) {
    writeTypeTag(list.uleb128(1), parseTypeTag(type))
    list.byteString(u64(value))
  }
  return list.toBytes()
}
