import { bytesToHex } from '@ledger-state/core'
import { keyName } from '@ledger-state/records/writes-hash'
import { decodeStateKey, STATE_KEY_ADDRESS_AT, type StateKey, typeTagToText } from '@ledger-state/type-tag'
import type { WriteReader } from './write-reader.js'

/** Facts that the keys of one type share. */
export interface KeyType {
  readonly kind: string
  /** The type, or the name of the module. */
  readonly text: string | undefined
  /** A key of the type: all of them have its tag. */
  readonly key: StateKey
}

/** A key that a range wrote. */
export interface WrittenKeyGroup {
  /** Number of the key. */
  readonly number: number
  readonly type: KeyType
  /** The address, or the handle of the table, in hex. */
  readonly address: string | undefined
  readonly key: Uint8Array
}

const ADDRESS_BYTES = 32
const NONE = -1

/** The keys of the writes of a range, in the order of their first writes. */
export class WrittenKeys {
  readonly groups: readonly WrittenKeyGroup[]
  readonly #writes: WriteReader
  /** The first write of each key. */
  readonly #first: Int32Array
  /** The next write of the same key. */
  readonly #next: Int32Array
  readonly #types = new Map<string, KeyType>()

  constructor(writes: WriteReader) {
    this.#writes = writes
    this.#first = new Int32Array(writes.keyCount).fill(NONE)
    this.#next = new Int32Array(writes.count)
    for (let write = writes.count - 1; write >= 0; write--) {
      const key = writes.keyOf(write)
      this.#next[write] = this.#first[key]!
      this.#first[key] = write
    }
    this.groups = Array.from(this.#first, (_, number) => this.#groupOf(number))
  }

  /** The key of a write. */
  groupOf(write: number): WrittenKeyGroup {
    return this.groups[this.#writes.keyOf(write)]!
  }

  /** The writes of a key, in the order of their versions. */
  *writesOf({ number }: WrittenKeyGroup): Generator<number, void> {
    for (let write = this.#first[number]!; write !== NONE; write = this.#next[write]!) yield write
  }

  /** All writes by address and type, those of both by their numbers. */
  sorted(): Uint32Array {
    const groups = this.groups.toSorted(compareGroups)
    const writes = new Uint32Array(this.#next.length)
    let end = 0
    for (let at = 0; at < groups.length; ) {
      const start = end
      const first = at
      do {
        for (const write of this.writesOf(groups[at]!)) writes[end++] = write
        at++
      } while (at < groups.length && compareGroups(groups[first]!, groups[at]!) === 0)
      // Keys that the order does not tell apart, such as items of a table.
      if (at - first > 1) writes.subarray(start, end).sort()
    }
    return writes
  }

  #groupOf(number: number): WrittenKeyGroup {
    const key = this.#writes.key(number)
    const address = () => bytesToHex(key.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + ADDRESS_BYTES))
    const name = keyName(key)
    const rest = name.substring(0, STATE_KEY_ADDRESS_AT) + name.substring(STATE_KEY_ADDRESS_AT + ADDRESS_BYTES)
    const known = this.#types.get(rest)
    if (known) return { number, type: known, address: address(), key }
    const decoded = decodeStateKey(key)
    const type: KeyType = { kind: KINDS[decoded.kind], text: typeTextOf(decoded), key: decoded }
    const hasTag = decoded.kind === 'resource' || decoded.kind === 'resourceGroup'
    if (hasTag) this.#types.set(rest, type)
    const hasAddress = hasTag || decoded.kind === 'module' || decoded.kind === 'tableItem'
    return { number, type, address: hasAddress ? address() : undefined, key }
  }
}

function compareGroups(one: WrittenKeyGroup, other: WrittenKeyGroup): number {
  return compareTexts(one.address, other.address) || compareTexts(one.type.text, other.type.text)
}

function compareTexts(one = '', other = ''): number {
  return one < other ? -1 : one > other ? 1 : 0
}

const KINDS: Readonly<Record<StateKey['kind'], string>> = {
  module: 'module',
  resource: 'resource',
  resourceGroup: 'resource_group',
  tableItem: 'table_item',
  nativePosition: 'other',
  raw: 'other',
}

function typeTextOf(decoded: StateKey): string | undefined {
  switch (decoded.kind) {
    case 'module':
      return decoded.name
    case 'resource':
    case 'resourceGroup':
      return typeTagToText(decoded.tag)
    default:
      return undefined
  }
}
