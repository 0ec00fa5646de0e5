import type { BlockInfo } from '@ledger-state/core'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { DELETION, ENTRY_HEADER_LENGTH } from '../memtable/entry-layout.js'
import type { KeyHash } from '../memtable/key-hash.js'
import type { CommitHead, Segment } from '../memtable/segment.js'
import { BLOCK_LENGTH, COMMIT_HEADER_LENGTH } from './payload-layout.js'
import { applyTruncation } from './put-payload.js'

/**
 * Indexes the payload of a commit, which lies in the arena from `start` to `end`; the arena is used up to `end`.
 * Returns its head, which the caller makes the head of the segment. `blockBefore` is the newest block before the
 * commit.
 * @throws `store_corrupt` if it cannot be parsed or does not follow the previous commit
 */
export function indexCommit(
  segment: Segment,
  hash: KeyHash,
  number: number,
  start: number,
  end: number,
  blockBefore: BlockInfo | undefined,
): CommitHead {
  const reader = new PayloadReader(segment, start, end, number)
  const chainId = reader.u64()
  const mark = reader.u8() === 1 ? reader.copy(reader.u32()) : undefined
  const firstVersion = reader.u64()
  const versions = reader.u32()
  if (versions === 0 && reader.at === end) {
    expectNewest(segment, reader, firstVersion)
    if (!blockBefore) reader.fail()
    return { number, chainId, latestVersion: firstVersion, latestBlock: blockBefore!, mark }
  }
  if (versions === 0) {
    const latestBlock = indexTruncation(segment, reader, firstVersion, end)
    return { number, chainId, latestVersion: firstVersion, latestBlock, mark }
  }
  if (segment.versionCount > 0 && firstVersion !== segment.firstVersion + BigInt(segment.versionCount)) reader.fail()
  let latestBlock = blockBefore
  for (let count = 0; count < versions; count++) {
    const block = reader.u8() === 1 ? reader.block() : undefined
    latestBlock = block ?? latestBlock
    segment.beginVersion(firstVersion + BigInt(count), block)
    for (let entries = reader.u32(); entries > 0; entries--) {
      const entryStart = reader.at
      const keyEnd = reader.skipEntry()
      if (!segment.add(entryStart, hash.of(segment.bytes, entryStart + ENTRY_HEADER_LENGTH, keyEnd))) reader.fail()
    }
  }
  if (reader.at !== end || !latestBlock) reader.fail()
  return { number, chainId, latestVersion: firstVersion + BigInt(versions - 1), latestBlock: latestBlock!, mark }
}

/** Checks that a version is the newest of the segment, if that has any. @throws `store_corrupt` */
function expectNewest(segment: Segment, reader: PayloadReader, version: bigint): void {
  const { firstVersion, versionCount } = segment
  if (versionCount > 0 && version !== firstVersion + BigInt(versionCount - 1)) reader.fail()
}

/** Applies a truncation to a version. Returns the block of that version. */
function indexTruncation(segment: Segment, reader: PayloadReader, version: bigint, end: number): BlockInfo {
  const number = Number(reader.u64())
  const latestBlock = reader.block()
  const { firstVersion, versionCount } = segment
  const isWithin = version + 1n >= firstVersion && version < firstVersion + BigInt(versionCount)
  if (reader.at !== end || (versionCount > 0 && !isWithin)) reader.fail()
  applyTruncation(segment, { number, version })
  return latestBlock
}

/** Reads the numbers of a payload, and nothing outside of it. */
class PayloadReader {
  at: number
  readonly #segment: Segment
  readonly #end: number
  readonly #number: number

  constructor(segment: Segment, start: number, end: number, number: number) {
    this.#segment = segment
    this.at = start
    this.#end = end
    this.#number = number
    if (end - start < COMMIT_HEADER_LENGTH) this.fail()
  }

  u8(): number {
    return this.#segment.view.getUint8(this.#take(1))
  }

  u32(): number {
    return this.#segment.view.getUint32(this.#take(4))
  }

  u64(): bigint {
    return this.#segment.view.getBigUint64(this.#take(8))
  }

  block(): BlockInfo {
    const at = this.#take(BLOCK_LENGTH)
    const { view } = this.#segment
    return {
      height: view.getBigUint64(at),
      epoch: view.getBigUint64(at + 8),
      timestampUsec: view.getBigUint64(at + 16),
    }
  }

  copy(length: number): Uint8Array {
    const at = this.#take(length)
    return new Uint8Array(this.#segment.bytes.subarray(at, at + length))
  }

  /** Moves past an entry. Returns the offset of the end of its key. */
  skipEntry(): number {
    const at = this.#take(ENTRY_HEADER_LENGTH)
    const { view } = this.#segment
    const keyLength = view.getUint32(at)
    const valueLength = view.getUint32(at + 4)
    this.#take(keyLength + (valueLength === DELETION ? 0 : valueLength))
    return at + ENTRY_HEADER_LENGTH + keyLength
  }

  fail(): never {
    throw storeCorrupt(`commit ${this.#number} in write-ahead-${this.#segment.fileNumber} does not parse`)
  }

  #take(length: number): number {
    const at = this.at
    if (at + length > this.#end) this.fail()
    this.at = at + length
    return at
  }
}
