import { Buffer } from 'node:buffer'
import { closeSync, fsyncSync, ftruncateSync, openSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { ByteReader, ByteWriter, partitionPoint } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { HASH_LENGTH } from '@ledger-state/proof'
import { badStateTree } from '../errors.js'
import { openToRead, orSpillFailed, readAt, writeAt } from './file-bytes.js'

// The roots of all subtrees at a depth of the state tree (a cut), at the ends of blocks.
//
// A file is a sequence of groups: 4 magic | u32 length of the group | u64 first end | u64 last end | u32 ends | u32
// changes in the group | u32 changes between the last snapshot and the group, or SNAPSHOT: the group has one | u32 depth
// | u32 CRC-32 of all but this number; with a snapshot 2^depth kinds, then 2^depth roots, as of the first end; for each
// end: varint its distance to the one before, varint changes, and for each u16 number of the subtree + kind * 2^14, 32
// root. Numbers are little-endian.

/** Most depth of a cut: 8,192 subtrees. The roots of deeper ones take longer to read than the keys that they save. */
export const MOST_CUT_DEPTH = 13
const MAGIC = Buffer.from('CUT1')
const HEADER_LENGTH = 44
const CRC_AT = 40
const CHANGE_LENGTH = 2 + HASH_LENGTH
const KIND_UNIT = 2 ** 14
const SNAPSHOT = 0xffff_ffff
/** Changes after a snapshot, in multiples of its roots, before there is another one. */
const CHANGES_OF_SNAPSHOT = 10
const LEAST_CHANGES = 256
/** Most ends of a group, however few changes they have. */
const MOST_ENDS = 2 ** 12
/** Most versions between two ends of a group. */
const MOST_DISTANCE = 2n ** 30n

/** The roots of all subtrees at a depth, after a block. */
export interface Cut {
  readonly depth: number
  /** Numbers of the subtrees that the block, or one since the last taken cut, may have changed. */
  readonly changed: Iterable<number>
  /** Kind of a subtree, as `PartTree.kind`. */
  kindOf(part: number): number
  /** Root of a subtree: a view that is valid until the next change. */
  rootOf(part: number): Uint8Array
}

/** Where a file is continued. */
export interface CutPlace {
  /** Bytes of the file that count; later ones are removed. */
  readonly bytes: number
  /** Changes since its last snapshot; undefined if the next group begins with one. */
  readonly changes: number | undefined
}

/** Appends the cuts of successive ends of blocks to a file. They are durable after `finish`. */
export class CutWriter {
  readonly #path: string
  readonly #descriptor: number
  readonly #depth: number
  readonly #most: number
  #bytes: number
  /** Changes between the last snapshot and the group; undefined if the group begins with a snapshot. */
  #before: number | undefined
  #body = new ByteWriter()
  #changes = 0
  #ends = 0
  #first = 0n
  #last = 0n

  /** @throws `spill_failed` */
  constructor(path: string, depth: number, { bytes, changes }: CutPlace = { bytes: 0, changes: undefined }) {
    this.#path = path
    this.#depth = depth
    this.#most = Math.max(LEAST_CHANGES, CHANGES_OF_SNAPSHOT * 2 ** depth)
    this.#bytes = bytes
    this.#continue(changes)
    this.#descriptor = orSpillFailed(path, () => openSync(path, bytes > 0 ? 'r+' : 'w'))
    orSpillFailed(this.#path, () => ftruncateSync(this.#descriptor, bytes))
  }

  /** Bytes of the file without the group under way. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether the next end begins with a snapshot, as the first of a file must. */
  get isAtSnapshot(): boolean {
    return this.#ends === 0 && this.#before === undefined
  }

  /** Appends the cut of an end above those before. @throws `spill_failed` */
  add(end: bigint, cut: Cut): void {
    if (this.#ends > 0 && end - this.#last > MOST_DISTANCE) this.#flush()
    const isFirst = this.#ends === 0
    const hasSnapshot = isFirst && this.#before === undefined
    if (isFirst) this.#first = end
    if (hasSnapshot) this.#addSnapshot(cut)
    const changed = hasSnapshot ? [] : [...cut.changed]
    this.#body.uleb128(isFirst ? 0 : Number(end - this.#last)).uleb128(changed.length)
    for (const part of changed) this.#body.u16(part + cut.kindOf(part) * KIND_UNIT).bytes(cut.rootOf(part))
    this.#ends++
    this.#last = end
    this.#changes += changed.length
    const isFull = (this.#before ?? 0) + this.#changes >= this.#most
    if (isFull || this.#ends === MOST_ENDS) this.#flush()
  }

  /** Writes the remaining ends, and syncs the file. @throws `spill_failed` */
  finish(): void {
    if (this.#ends > 0) this.#flush()
    orSpillFailed(this.#path, () => fsyncSync(this.#descriptor))
  }

  /** Closes the file. */
  close(): void {
    closeSync(this.#descriptor)
  }

  #addSnapshot(cut: Cut): void {
    for (let part = 0; part < 2 ** this.#depth; part++) this.#body.u8(cut.kindOf(part))
    for (let part = 0; part < 2 ** this.#depth; part++) this.#body.bytes(cut.rootOf(part))
  }

  #flush(): void {
    const body = this.#body.toBytes()
    const head = Buffer.alloc(HEADER_LENGTH)
    MAGIC.copy(head)
    head.writeUInt32LE(HEADER_LENGTH + body.length, 4)
    head.writeBigUInt64LE(this.#first, 8)
    head.writeBigUInt64LE(this.#last, 16)
    head.writeUInt32LE(this.#ends, 24)
    head.writeUInt32LE(this.#changes, 28)
    head.writeUInt32LE(this.#before ?? SNAPSHOT, 32)
    head.writeUInt32LE(this.#depth, 36)
    head.writeUInt32LE(checksumOf(head, body), CRC_AT)
    this.#write(Buffer.concat([head, body]))
    this.#body = new ByteWriter()
    this.#continue((this.#before ?? 0) + this.#changes)
    this.#changes = 0
    this.#ends = 0
  }

  #continue(changes: number | undefined): void {
    this.#before = changes === undefined || changes >= this.#most ? undefined : changes
  }

  #write(bytes: Uint8Array): void {
    writeAt(this.#path, this.#descriptor, bytes, this.#bytes)
    this.#bytes += bytes.length
  }
}

/** A cut that was read. */
export interface StoredCut {
  readonly depth: number
  readonly kinds: Uint8Array
  /** `HASH_LENGTH` bytes each. */
  readonly roots: Uint8Array
}

/** The cuts of a file. */
export interface CutFile {
  readonly depth: number
  /** First and last end of a block. */
  readonly first: bigint
  readonly last: bigint
  /** Where the file is continued. */
  readonly place: CutPlace
  /** The newest end at or below a version; undefined if there is none. @throws `state_tree_damaged` */
  endUpTo(version: bigint): bigint | undefined
  /** The oldest end above a version; undefined if there is none. @throws `state_tree_damaged` */
  endAfter(version: bigint): bigint | undefined
  /** The cut of an end; undefined if the version is none. @throws `state_tree_damaged` */
  at(end: bigint): StoredCut | undefined
  /** Writes the cuts of some ends, as `keeps` says, to another file. @throws `state_tree_damaged`, `spill_failed` */
  copy(keeps: (end: bigint, next: bigint | undefined) => boolean, writer: CutWriter): void
  /** Closes the file. */
  close(): void
}

/** Place of a group in its file, and its numbers. */
interface Group {
  readonly place: number
  readonly length: number
  readonly first: bigint
  readonly last: bigint
  readonly ends: number
  readonly changes: number
  /** Changes since the last snapshot; undefined if the group has a snapshot. */
  readonly before: number | undefined
}

/**
 * Opens a file that `CutWriter` wrote. Undefined if there is none.
 * @param bytes bytes of the file that count
 * @throws `state_tree_damaged`
 */
export function openCutFile(path: string, bytes: number): CutFile | undefined {
  return openToRead(path, (descriptor) => new OpenCutFile(path, descriptor, bytes))
}

class OpenCutFile implements CutFile {
  readonly depth: number
  readonly #path: string
  readonly #descriptor: number
  readonly #groups: Group[] = []

  constructor(path: string, descriptor: number, bytes: number) {
    this.#path = path
    this.#descriptor = descriptor
    const depths = new Set<number>()
    for (let place = 0; place < bytes; place = endOf(this.#groups.at(-1)!)) {
      const head = this.#read(place, HEADER_LENGTH)
      const group = headToGroup(head, place)
      const isNext = this.#groups.length === 0 ? group.before === undefined : group.first > this.#groups.at(-1)!.last
      const isSound = head.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) === 0 && group.length > HEADER_LENGTH
      if (!isSound || !isNext || endOf(group) > bytes) throw badStateTree(path, 'the head of a group is damaged')
      this.#groups.push(group)
      depths.add(head.readUInt32LE(36))
    }
    const [depth] = depths
    if (depth === undefined || depths.size > 1 || depth > MOST_CUT_DEPTH)
      throw badStateTree(path, 'it has no cuts of one depth')
    this.depth = depth
  }

  get first(): bigint {
    return this.#groups[0]!.first
  }

  get last(): bigint {
    return this.#groups.at(-1)!.last
  }

  get place(): CutPlace {
    const last = this.#groups.at(-1)!
    return { bytes: endOf(last), changes: (last.before ?? 0) + last.changes }
  }

  endUpTo(version: bigint): bigint | undefined {
    const group = this.#groups[this.#indexUpTo(version)]
    return group && this.#endsOf(group).findLast((end) => end <= version)
  }

  endAfter(version: bigint): bigint | undefined {
    const index = this.#indexUpTo(version)
    const group = this.#groups[index]
    const within = group && group.last > version ? this.#endsOf(group).find((end) => end > version) : undefined
    return within ?? this.#groups[index + 1]?.first
  }

  at(version: bigint): StoredCut | undefined {
    const index = this.#indexUpTo(version)
    if (index < 0 || this.#groups[index]!.last < version) return undefined
    const state = this.#emptyState()
    let isFound = false
    for (const group of this.#groups.slice(this.#snapshotOf(index), index + 1)) {
      this.#replay(group, state, (end, apply) => {
        if (end > version) return
        apply()
        isFound = end === version
      })
    }
    return isFound ? state : undefined
  }

  copy(keeps: (end: bigint, next: bigint | undefined) => boolean, writer: CutWriter): void {
    const [state, written] = [this.#emptyState(), this.#emptyState()]
    const parts = Array.from(state.kinds.keys())
    let changed = new Set<number>()
    const isOther = (part: number) => {
      const [at, end] = [part * HASH_LENGTH, (part + 1) * HASH_LENGTH]
      const isSame = compareBytes(state.roots.subarray(at, end), written.roots.subarray(at, end)) === 0
      return !isSame || state.kinds[part] !== written.kinds[part]
    }
    const cut: Cut = {
      depth: this.depth,
      get changed() {
        return [...changed].filter(isOther)
      },
      kindOf: (part) => state.kinds[part]!,
      rootOf: (part) => state.roots.subarray(part * HASH_LENGTH, (part + 1) * HASH_LENGTH),
    }
    for (const [index, group] of this.#groups.entries()) {
      const ends = this.#endsOf(group)
      // After a snapshot, it is not known which subtrees have changed.
      if (group.before === undefined) changed = new Set(parts)
      let at = 0
      this.#replay(group, state, (end, apply) => {
        for (const part of apply()) changed.add(part)
        if (!keeps(end, ends[++at] ?? this.#groups[index + 1]?.first)) return
        writer.add(end, cut)
        changed.clear()
        written.kinds.set(state.kinds)
        written.roots.set(state.roots)
      })
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #emptyState() {
    const parts = 2 ** this.depth
    return { depth: this.depth, kinds: new Uint8Array(parts), roots: new Uint8Array(parts * HASH_LENGTH) }
  }

  /** Index of the last group that begins at or below a version, or -1. */
  #indexUpTo(version: bigint): number {
    return partitionPoint(this.#groups, ({ first }) => first <= version) - 1
  }

  #snapshotOf(index: number): number {
    let at = index
    while (this.#groups[at]!.before !== undefined) at--
    return at
  }

  #endsOf(group: Group): bigint[] {
    const ends: bigint[] = []
    this.#replay(group, undefined, (end) => ends.push(end))
    return ends
  }

  /**
   * Goes through the ends of a group.
   * @param state is set to the snapshot of the group, if it has one
   * @param visit may apply the changes of the end to the state, and learns their parts
   */
  #replay(group: Group, state: StoredCut | undefined, visit: (end: bigint, apply: () => number[]) => void): void {
    const bytes = this.#read(group.place, group.length)
    const body = bytes.subarray(HEADER_LENGTH)
    if (bytes.readUInt32LE(CRC_AT) !== checksumOf(bytes.subarray(0, HEADER_LENGTH), body)) {
      throw badStateTree(this.#path, 'the checksum of a group is wrong')
    }
    const reader = new ByteReader(body)
    const parts = 2 ** this.depth
    if (group.before === undefined) {
      const [kinds, roots] = [reader.readBytes(parts), reader.readBytes(parts * HASH_LENGTH)]
      state?.kinds.set(kinds)
      state?.roots.set(roots)
    }
    let end = group.first
    for (let count = 0; count < group.ends; count++) {
      end += BigInt(reader.readLength())
      const changes = reader.readLength()
      const at = HEADER_LENGTH + reader.offset
      reader.skip(changes * CHANGE_LENGTH)
      visit(end, () => (state ? applyChanges(bytes, at, changes, state) : []))
    }
  }

  #read(place: number, length: number): Buffer {
    return readAt(this.#path, this.#descriptor, Buffer.allocUnsafe(length), place)
  }
}

function applyChanges(bytes: Buffer, first: number, count: number, { kinds, roots }: StoredCut): number[] {
  const changed: number[] = []
  for (let at = first; at < first + count * CHANGE_LENGTH; at += CHANGE_LENGTH) {
    const named = bytes.readUInt16LE(at)
    const part = named % KIND_UNIT
    kinds[part] = Math.floor(named / KIND_UNIT)
    roots.set(bytes.subarray(at + 2, at + CHANGE_LENGTH), part * HASH_LENGTH)
    changed.push(part)
  }
  return changed
}

function headToGroup(head: Buffer, place: number): Group {
  const before = head.readUInt32LE(32)
  return {
    place,
    length: head.readUInt32LE(4),
    first: head.readBigUInt64LE(8),
    last: head.readBigUInt64LE(16),
    ends: head.readUInt32LE(24),
    changes: head.readUInt32LE(28),
    before: before === SNAPSHOT ? undefined : before,
  }
}

function endOf({ place, length }: Group): number {
  return place + length
}

function checksumOf(head: Uint8Array, body: Uint8Array): number {
  return crc32(body, crc32(head.subarray(0, CRC_AT)))
}
