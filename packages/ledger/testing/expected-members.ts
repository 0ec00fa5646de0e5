// Finds the members of a slice of a random ledger the slow way: after each version, from all kept values.
import { bytesToHex, type Write } from '@ledger-state/core'
import type { StateReader } from '@ledger-state/engine'
import { readResourceGroup } from '@ledger-state/move-module'
import { decodeMember, SLICE_ACCOUNT_PREFIX, SLICE_TABLE_PREFIX, type SliceLeftOut } from '@ledger-state/records'
import { isFrameworkAt, matchesType, type SliceSpec } from '@ledger-state/slices'
import { decodeStateKey, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import { INNER_TABLES, OUTER_TABLES } from './random-slices.ts'

const ID_AT = 1

const SLICE_MEMBERS = [
  ['account', SLICE_ACCOUNT_PREFIX],
  ['table', SLICE_TABLE_PREFIX],
] as const

/** The members that a store has, each with the version since which it is kept. */
export function membersIn(store: StateReader): Map<string, bigint> {
  const members = new Map<string, bigint>()
  for (const [kind, prefix] of SLICE_MEMBERS) {
    for (const { key, value } of store.at().scan(prefix)) {
      members.set(`${kind} ${bytesToHex(key.subarray(prefix.length))}`, decodeMember(value).since)
    }
  }
  return members
}

/**
 * The members that a slice of a ledger must have, each with the version since which it is kept.
 * @param first version of the ledger
 */
export function expectedMembers(
  versions: readonly (readonly Write[])[],
  spec: SliceSpec,
  first = 0n,
): Map<string, bigint> {
  const model = new MemberModel(spec, first)
  for (const [at, writes] of versions.entries()) model.take(first + BigInt(at), writes)
  return model.members
}

/**
 * Counts of the data that a slice of a ledger left out.
 * @param state the state that the store began with, if any; the versions follow it
 */
export function expectedLeftOut(
  state: readonly Write[] | undefined,
  versions: readonly (readonly Write[])[],
  spec: SliceSpec,
  first = 0n,
): SliceLeftOut {
  const model = new MemberModel(spec, first)
  const after = state ? first + 1n : first
  if (state) model.take(first, state)
  const ofState = state ? model.outside(state) : { count: 0, bytes: 0 }
  let [writes, writtenBytes] = [0, 0]
  for (const [at, some] of versions.entries()) {
    model.take(after + BigInt(at), some)
    const { count, bytes } = model.outside(some)
    writes += count
    writtenBytes += bytes
  }
  return { keys: ofState.count, bytes: ofState.bytes, writes, writtenBytes }
}

class MemberModel {
  readonly members = new Map<string, bigint>()
  readonly #types: SliceSpec['types']
  /** Tables whose types are known. */
  readonly #typed = new Set<string>()
  readonly #kept = new Map<string, readonly [Uint8Array, Uint8Array]>()
  #version: bigint

  constructor({ accounts, tables, types }: SliceSpec, first: bigint) {
    this.#types = types
    this.#version = first
    for (const address of accounts) this.#join('account', address)
    for (const handle of tables) this.#join('table', handle)
  }

  take(version: bigint, writes: readonly Write[]): void {
    this.#version = version
    for (let before = -1; before !== this.#known; ) {
      before = this.#known
      for (const [key, value] of writes) {
        if (!this.#isKept(key, value)) continue
        if (value) this.#kept.set(bytesToHex(key), [key, value])
        else this.#kept.delete(bytesToHex(key))
      }
      for (const [key, value] of this.#kept.values()) this.#joinTables(key, value)
    }
  }

  /** The writes of the last version that are not kept. */
  outside(writes: readonly Write[]): { readonly count: number; readonly bytes: number } {
    const left = writes.filter(
      ([key, value]) =>
        decodeStateKey(key).kind !== 'module' && !isFrameworkAt(key, ID_AT) && !this.#isKept(key, value),
    )
    return { count: left.length, bytes: left.reduce((sum, [key, value]) => sum + key.length + (value?.length ?? 0), 0) }
  }

  get #known(): number {
    return this.members.size + this.#typed.size
  }

  #join(kind: 'account' | 'table', id: Uint8Array): void {
    const name = `${kind} ${bytesToHex(id)}`
    if (!this.members.has(name)) this.members.set(name, this.#version)
  }

  #isKept(key: Uint8Array, value: Uint8Array | null): boolean {
    const decoded = decodeStateKey(key)
    if (decoded.kind === 'tableItem') return this.members.has(`table ${bytesToHex(decoded.handle)}`)
    if (decoded.kind !== 'resource' && decoded.kind !== 'resourceGroup') return false
    if (this.members.has(`account ${bytesToHex(decoded.address)}`)) return true
    if (decoded.kind === 'resource') return this.#isOfKeptType(decoded.tag)
    const joins =
      value !== null &&
      readResourceGroup(value).some(({ name, bytes }) => {
        const at = name.name === 'ObjectCore' ? 8 : name.name === 'TombStone' ? 0 : undefined
        const isOwned = at !== undefined && this.members.has(`account ${bytesToHex(bytes.subarray(at, at + 32))}`)
        return isOwned || this.#isOfKeptType(name)
      })
    if (joins) this.#join('account', decoded.address)
    return joins
  }

  #isOfKeptType(tag: StructTag): boolean {
    return this.#types.some((pattern) => matchesType(pattern, tag))
  }

  #joinTables(key: Uint8Array, value: Uint8Array): void {
    const decoded = decodeStateKey(key)
    if (decoded.kind === 'resource') this.#joinTablesOf(decoded.tag, value)
    if (decoded.kind === 'resourceGroup') {
      for (const { name, bytes } of readResourceGroup(value)) this.#joinTablesOf(name, bytes)
    }
    if (decoded.kind !== 'tableItem' || !this.#typed.has(bytesToHex(decoded.handle))) return
    const holdsTables = [...OUTER_TABLES, ...INNER_TABLES].some(
      (handle) => Buffer.compare(handle, decoded.handle) === 0,
    )
    if (holdsTables) this.#joinTable(value)
  }

  #joinTablesOf(tag: StructTag, bytes: Uint8Array): void {
    if (typeTagToText(tag) === '0x5::m::Box') this.#joinTable(bytes.subarray(8))
  }

  #joinTable(handle: Uint8Array): void {
    this.#join('table', handle)
    this.#typed.add(bytesToHex(handle))
  }
}
