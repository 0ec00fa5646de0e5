import { addressToShortHex, type KeyedEntry } from '@ledger-state/core'
import type { AsyncStateReader, StateEngineReader } from '@ledger-state/engine'
import {
  decodeMember,
  decodeSliceLeftOut,
  memberIdOf,
  SLICE_ACCOUNT_PREFIX,
  SLICE_KEY,
  SLICE_LEFT_OUT_KEY,
  SLICE_TABLE_PREFIX,
  type SliceLeftOut,
} from '@ledger-state/records'
import { accountKeyPrefix, tableKeyPrefix } from '@ledger-state/type-tag'
import { decodeSliceRecord, type SliceMember } from '../spec/slice-record.js'
import { typePatternToText } from '../spec/type-pattern.js'

/** Description of a slice. */
export interface SliceStatus {
  /** Numbers of accounts and tables that were asked for. */
  readonly asked: { readonly accounts: number; readonly tables: number; readonly types: readonly string[] }
  readonly accounts: number
  readonly tables: number
  /** Number of members that joined after the store began, so that their earlier state is not known. */
  readonly joinedLate: number
  /** The members that joined last, the newest first. */
  readonly newest: readonly SliceMember[]
  /** Counts of omitted data up to the newest version; undefined for a store that did not count from the beginning. */
  readonly leftOut: SliceLeftOut | undefined
}

const NEWEST = 20

/**
 * Describes the slice of a store; undefined if the store keeps everything, or is empty. Reads all members.
 * @example
 * ```ts
 * import { createMemoryEngine } from '@ledger-state/engine'
 * import { readSliceStatus } from '@ledger-state/slices'
 *
 * console.log(await readSliceStatus(createMemoryEngine())) // undefined
 * ```
 */
export async function readSliceStatus(engine: StateEngineReader | AsyncStateReader): Promise<SliceStatus | undefined> {
  const view = await latestView(engine)
  const record = await view?.get(SLICE_KEY)
  if (!view || !record) return undefined
  const { accounts, tables, types } = decodeSliceRecord(record)
  const asked = { accounts, tables, types: types.map(typePatternToText) }
  const counted = await view.get(SLICE_LEFT_OUT_KEY)
  const leftOut = counted && decodeSliceLeftOut(counted)
  const counts = { account: 0, table: 0 }
  let joinedLate = 0
  let newest: SliceMember[] = []
  for await (const member of membersOf(view)) {
    counts[member.kind]++
    if (member.isWhole) continue
    joinedLate++
    newest.push(member)
    if (newest.length > 50 * NEWEST) newest = latestOf(newest)
  }
  return { asked, accounts: counts.account, tables: counts.table, joinedLate, newest: latestOf(newest), leftOut }
}

/**
 * Digest of the specification of a store's slice; undefined if it keeps everything. See `sliceDigest`.
 */
export function sliceDigestOf(engine: StateEngineReader): Uint8Array | undefined {
  const record = engine.ledger && engine.at().get(SLICE_KEY)
  return record && decodeSliceRecord(record).digest
}

/** The members of a store's slice, accounts first; none if it keeps everything. */
export async function* readSliceMembers(engine: StateEngineReader | AsyncStateReader): AsyncGenerator<SliceMember> {
  const view = await latestView(engine)
  if (view) yield* membersOf(view)
}

/** The lines of the specification of a store's slice: see `parseSliceSpec`. */
export async function readSliceLines(engine: StateEngineReader | AsyncStateReader): Promise<readonly string[]> {
  const status = await readSliceStatus(engine)
  const lines: string[] = []
  for await (const { kind, id, reason } of readSliceMembers(engine)) {
    if (reason === 'asked') lines.push(kind === 'table' ? `table ${addressToShortHex(id)}` : addressToShortHex(id))
  }
  return [...lines, ...(status?.asked.types ?? [])]
}

/** Number of keys and bytes that the newest version has of a member. */
export async function measureMember(
  engine: StateEngineReader | AsyncStateReader,
  { kind, id }: SliceMember,
): Promise<{ readonly keys: number; readonly bytes: number }> {
  const view = await latestView(engine)
  const prefix = kind === 'account' ? accountKeyPrefix(id) : tableKeyPrefix(id)
  let keys = 0
  let bytes = 0
  if (!view) return { keys, bytes }
  for await (const { key, value } of view.scan(prefix)) {
    keys++
    bytes += key.length + value.length
  }
  return { keys, bytes }
}

/** The newest state of a store, whether its reads return promises or not. */
interface LatestView {
  get(key: Uint8Array): Promise<Uint8Array | undefined>
  scan(prefix: Uint8Array): AsyncIterable<KeyedEntry>
}

async function latestView(engine: StateEngineReader | AsyncStateReader): Promise<LatestView | undefined> {
  if (engine.kind === 'sync') {
    if (!engine.ledger) return undefined
    const view = engine.at()
    return {
      get: async (key) => view.get(key),
      async *scan(prefix) {
        yield* view.scan(prefix)
      },
    }
  }
  const snapshot = await engine.snapshot()
  if (!snapshot.ledger) return undefined
  const view = snapshot.at()
  return {
    get: async (key) => (await view.load([key]))[0]?.value,
    async *scan(prefix) {
      for (let start: Uint8Array | undefined = prefix; start; ) {
        const page = await view.scan(prefix, { start })
        yield* page.entries
        start = page.next
      }
    },
  }
}

async function* membersOf(view: LatestView): AsyncGenerator<SliceMember> {
  const prefixes = [
    ['account', SLICE_ACCOUNT_PREFIX],
    ['table', SLICE_TABLE_PREFIX],
  ] as const
  for (const [kind, prefix] of prefixes) {
    for await (const { key, value } of view.scan(prefix)) {
      const { reason, since, isWhole } = decodeMember(value)
      yield { kind, id: memberIdOf(key), reason, since, isWhole }
    }
  }
}

function latestOf(members: SliceMember[]): SliceMember[] {
  return members.sort((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0)).slice(0, NEWEST)
}
