import { bytesToHex } from '@ledger-state/core'
import { decodeStateKey, STATE_KEY_ADDRESS_AT, type StateKey, typeTagToText } from '@ledger-state/type-tag'
import type { WriteReader } from './packed-writes.js'

/** Facts that the keys of one type share. */
export interface KeyType {
  readonly kind: string
  /** The type, or the name of the module. */
  readonly text: string | undefined
  /** A key of the type: all of them have its tag. */
  readonly key: StateKey
}

/** A key that a range wrote. Its writes are numbers, in the order of their versions. */
export interface WrittenKeyGroup {
  readonly type: KeyType
  /** The address, or the handle of the table, in hex. */
  readonly address: string | undefined
  readonly key: Uint8Array
  readonly firstWrite: number
  lastWrite: number
}

const ADDRESS_BYTES = 32
const NONE = -1

/** The keys of the writes of a range, in the order of their first writes. */
export class WrittenKeys {
  readonly groups: readonly WrittenKeyGroup[]
  /** The next write of the same key. */
  readonly #next: Int32Array
  readonly #types = new Map<string, KeyType>()

  constructor(writes: WriteReader) {
    this.#next = new Int32Array(writes.count).fill(NONE)
    const groups = new Map<string, WrittenKeyGroup>()
    for (let write = 0; write < writes.count; write++) {
      const key = writes.key(write)
      const name = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
      const known = groups.get(name)
      if (known) {
        this.#next[known.lastWrite] = write
        known.lastWrite = write
      } else groups.set(name, this.#groupOf(name, key, write))
    }
    this.groups = [...groups.values()]
  }

  /** The writes of a key. */
  *writesOf({ firstWrite }: WrittenKeyGroup): Generator<number, void> {
    for (let write = firstWrite; write !== NONE; write = this.#next[write]!) yield write
  }

  /** All writes by address and type, those of both by their numbers. */
  sorted(): { readonly writes: Uint32Array; readonly groups: readonly WrittenKeyGroup[] } {
    const groups = this.groups.toSorted(compareGroups)
    const writes = new Uint32Array(this.#next.length)
    const ofWrites = new Array<WrittenKeyGroup>(this.#next.length)
    let end = 0
    for (let at = 0; at < groups.length; ) {
      const start = end
      const first = at
      do {
        const group = groups[at]!
        for (let write = group.firstWrite; write !== NONE; write = this.#next[write]!) {
          writes[end++] = write
          ofWrites[write] = group
        }
        at++
      } while (at < groups.length && compareGroups(groups[first]!, groups[at]!) === 0)
      // Keys that the order does not tell apart, such as items of a table.
      if (at - first > 1) writes.subarray(start, end).sort()
    }
    return { writes, groups: ofWrites }
  }

  #groupOf(name: string, key: Uint8Array, write: number): WrittenKeyGroup {
    const address = () => bytesToHex(key.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + ADDRESS_BYTES))
    const rest = name.substring(0, STATE_KEY_ADDRESS_AT) + name.substring(STATE_KEY_ADDRESS_AT + ADDRESS_BYTES)
    const known = this.#types.get(rest)
    if (known) return { type: known, address: address(), key, firstWrite: write, lastWrite: write }
    const decoded = decodeStateKey(key)
    const type: KeyType = { kind: KINDS[decoded.kind], text: typeTextOf(decoded), key: decoded }
    const hasTag = decoded.kind === 'resource' || decoded.kind === 'resourceGroup'
    if (hasTag) this.#types.set(rest, type)
    const hasAddress = hasTag || decoded.kind === 'module' || decoded.kind === 'tableItem'
    return { type, address: hasAddress ? address() : undefined, key, firstWrite: write, lastWrite: write }
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
