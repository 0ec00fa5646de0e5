import { Buffer } from 'node:buffer'
import type { BlockInfo, VersionWrites, Write } from '@ledger-state/core'
import type { Truncation } from '@ledger-state/engine'
import { addTruncation, duplicateKey, putStoredTail, storedTailLength } from '@ledger-state/engine/authoring'
import { DELETION, ENTRY_HEADER_LENGTH } from '../memtable/entry-layout.js'
import type { KeyHash } from '../memtable/key-hash.js'
import { type CommitHead, NONE, type Segment } from '../memtable/segment.js'
import {
  BLOCK_LENGTH,
  COMMIT_HEADER_LENGTH,
  MARK_HEADER_LENGTH,
  TRUNCATION_LENGTH,
  VERSION_HEADER_LENGTH,
} from './payload-layout.js'

/** Number of bytes of an entry in the index of a segment, if it is the first of its key. */
const INDEX_LENGTH = 40

/** A batch that was validated. It has at least one version. */
export interface CommitContent {
  readonly number: number
  readonly chainId: bigint
  readonly versions: readonly VersionWrites[]
  readonly mark: Uint8Array | undefined
  /** Newest block before the commit. */
  readonly blockBefore: BlockInfo | undefined
}

/** A truncation that was validated. */
export interface TruncationContent {
  readonly number: number
  readonly chainId: bigint
  readonly mark: Uint8Array | undefined
  readonly truncation: Truncation
  /** Block of the newest version that is left. */
  readonly latestBlock: BlockInfo
}

/** Whether a key that the segment does not have has a value before the commit. */
export type HasValue = (key: Uint8Array, hash: number) => boolean

/** Most bytes of the payload of a commit: deletions of keys that do not exist are left out later. */
export function payloadLength({ versions, mark }: Pick<CommitContent, 'versions' | 'mark'>): number {
  let length = COMMIT_HEADER_LENGTH + (mark ? MARK_HEADER_LENGTH + mark.length : 0)
  for (const { block, writes } of versions) {
    length += VERSION_HEADER_LENGTH + (block ? BLOCK_LENGTH : 0)
    for (const write of writes) {
      const value = write[1]
      length += ENTRY_HEADER_LENGTH + write[0].length
      if (value) length += value.length + storedTailLength(value, write[2])
    }
  }
  return length
}

/** Estimated bytes of memory of a commit in a segment. */
export function commitSize(content: Pick<CommitContent, 'versions' | 'mark'>): number {
  const entries = content.versions.reduce((sum, { writes }) => sum + writes.length, 0)
  return payloadLength(content) + INDEX_LENGTH * entries
}

/** Approximate number of writes that are put between two steps: a fraction of a millisecond of work. */
const STEP_WRITES = 64

/**
 * Puts the payload of a commit at the end of the arena, which must have room for it, and indexes it. Returns its head,
 * which the caller makes the head of the segment.
 * @throws `duplicate_key`; the caller must then roll the segment back
 */
export function* putCommitInSteps(
  segment: Segment,
  hash: KeyHash,
  content: CommitContent,
  hasValue: HasValue,
): Generator<void, CommitHead> {
  const { number, chainId, versions, mark, blockBefore } = content
  putCommitHeader(segment, content, versions[0]!.version, versions.length)
  let latestBlock = blockBefore
  let stepLeft = STEP_WRITES
  for (const record of versions) {
    latestBlock = record.block ?? latestBlock
    const part = beginVersion(segment, record)
    const { length } = record.writes
    for (let at = 0; at < length; ) {
      const end = Math.min(length, at + stepLeft)
      putWrites(segment, hash, part, at, end, hasValue)
      stepLeft -= end - at
      at = end
      if (stepLeft > 0) continue
      stepLeft = STEP_WRITES
      yield
    }
    segment.view.setUint32(part.countAt, segment.entryCount - part.entriesBefore)
  }
  const latestVersion = versions.at(-1)!.version
  return { number, chainId, latestVersion, latestBlock: latestBlock!, mark: mark && new Uint8Array(mark) }
}

/** A mark that was validated, and the ledger to which it belongs. */
export interface MarkContent extends Omit<CommitHead, 'mark'> {
  readonly mark: Uint8Array
}

/**
 * Puts the payload of a mark at the end of the arena, which must have room for it. Returns its head, which the caller
 * makes the head of the segment.
 */
export function putMarkPayload(segment: Segment, { mark, ...head }: MarkContent): CommitHead {
  putCommitHeader(segment, { chainId: head.chainId, mark }, head.latestVersion, 0)
  return { ...head, mark: new Uint8Array(mark) }
}

/** Length of the payload of a truncation, in bytes. */
export function truncationLength({ mark }: Pick<TruncationContent, 'mark'>): number {
  return payloadLength({ versions: [], mark }) + TRUNCATION_LENGTH
}

/**
 * Puts the payload of a truncation at the end of the arena, which must have room for it. Returns the head that the
 * segment will have after `applyTruncation`.
 */
export function putTruncation(segment: Segment, content: TruncationContent): CommitHead {
  const { number, chainId, mark, truncation, latestBlock } = content
  const { version: latestVersion } = truncation
  putCommitHeader(segment, content, latestVersion, 0)
  segment.view.setBigUint64(segment.length, BigInt(truncation.number))
  segment.length += 8
  putBlock(segment, latestBlock)
  return { number, chainId, latestVersion, latestBlock, mark: mark && new Uint8Array(mark) }
}

/** Cuts a segment, and adds the truncation to its list. */
export function applyTruncation(segment: Segment, truncation: Truncation): void {
  segment.cutAfter(truncation.version)
  segment.truncations = addTruncation(segment.truncations, truncation)
}

function putCommitHeader(
  segment: Segment,
  { chainId, mark }: Pick<CommitContent, 'chainId' | 'mark'>,
  firstVersion: bigint,
  versions: number,
): void {
  const { view } = segment
  let at = segment.length
  view.setBigUint64(at, chainId)
  view.setUint8(at + 8, mark ? 1 : 0)
  at += 9
  if (mark) {
    view.setUint32(at, mark.length)
    segment.bytes.set(mark, at + MARK_HEADER_LENGTH)
    at += MARK_HEADER_LENGTH + mark.length
  }
  view.setBigUint64(at, firstVersion)
  view.setUint32(at + 8, versions)
  segment.length = at + 12
}

/** A version whose writes are being put. */
interface VersionPart {
  readonly record: VersionWrites
  readonly countAt: number
  readonly entriesBefore: number
  /** Keys whose deletion was left out, as texts: the version must not write them again. */
  leftOut: Set<string> | undefined
}

function beginVersion(segment: Segment, record: VersionWrites): VersionPart {
  const { view } = segment
  const { version, block } = record
  segment.beginVersion(version, block)
  view.setUint8(segment.length, block ? 1 : 0)
  segment.length += 1
  if (block) putBlock(segment, block)
  const countAt = segment.length
  segment.length += 4
  return { record, countAt, entriesBefore: segment.entryCount, leftOut: undefined }
}

/** Puts the writes of a version from one index to another. */
function putWrites(segment: Segment, hash: KeyHash, part: VersionPart, from: number, to: number, has: HasValue): void {
  const { version, writes } = part.record
  // By index: destructuring a tuple costs a tenth of a write.
  for (let at = from; at < to; at++) {
    const write = writes[at]!
    const key = write[0]
    const keyHash = hash.of(key, 0, key.length)
    if (part.leftOut?.has(keyToText(key))) throw duplicateKey(version)
    if (write[1] === null && !hasValueBefore(segment, key, keyHash, part.entriesBefore, has)) {
      part.leftOut ??= new Set()
      part.leftOut.add(keyToText(key))
    } else {
      putEntry(segment, version, write, keyHash)
    }
  }
}

function putBlock(segment: Segment, { height, epoch, timestampUsec }: BlockInfo): void {
  const { view, length } = segment
  view.setBigUint64(length, height)
  view.setBigUint64(length + 8, epoch)
  view.setBigUint64(length + 16, timestampUsec)
  segment.length = length + BLOCK_LENGTH
}

/**
 * Whether a key has a value before the commit. Also true if the current version wrote the key already: the entry is
 * then refused as a duplicate.
 */
function hasValueBefore(segment: Segment, key: Uint8Array, hash: number, first: number, has: HasValue): boolean {
  const newest = segment.newest(key, hash)
  if (newest === NONE) return has(key, hash)
  return newest >= first || !segment.isDeletion(newest)
}

function putEntry(segment: Segment, version: bigint, write: Write, hash: number): void {
  const { bytes, view } = segment
  const key = write[0]
  const value = write[1]
  const annotation = write[2]
  const start = segment.length
  view.setUint32(start, key.length)
  view.setUint32(start + 4, value === null ? DELETION : value.length + storedTailLength(value, annotation))
  let at = start + ENTRY_HEADER_LENGTH
  bytes.set(key, at)
  at += key.length
  if (value !== null) {
    bytes.set(value, at)
    at = putStoredTail(bytes, at + value.length, value, annotation)
  }
  if (!segment.add(start, hash)) throw duplicateKey(version)
  segment.length = at
}

function keyToText(key: Uint8Array): string {
  return Buffer.prototype.latin1Slice.call(key, 0, key.length)
}
