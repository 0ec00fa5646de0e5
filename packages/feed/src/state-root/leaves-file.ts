import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs'
import { HASH_LENGTH, SAVED_LEAF_LENGTH } from '@ledger-state/proof'
import { spillFailed } from '../errors.js'
import { fillFrom, openToRead, orSpillFailed, writeAt } from './file-bytes.js'

// The leaves of a state as a file. The folder of an audit has it.
//
// header: 8 magic | u64 version | u64 leaves | 32 root of the state; for each value of the first 12 bits of a key hash,
// and once behind the last, the number of leaves before it, u64; all leaves in the order of their key hashes: 32 hash
// of the key, 32 hash of the leaf. Numbers are little-endian. The digest is the SHA-256 of the header with the numbers,
// and of the SHA-256 of all leaves. (The root does not cover all bits of the keys.)

const MAGIC = Buffer.from('LSLEAF\0\x01')
const HEADER_LENGTH = 24 + HASH_LENGTH
/** Deepest parts that a file can be read in. */
export const MOST_PART_DEPTH = 12
const PREFIXES = 2 ** MOST_PART_DEPTH
const LEAVES_AT = HEADER_LENGTH + (PREFIXES + 1) * 8

/** Writes the leaves of a state. The file is durable after `finish`. */
export class LeavesWriter {
  readonly #path: string
  readonly #descriptor: number
  readonly #counts = new Array<number>(PREFIXES).fill(0)
  readonly #digest = createHash('sha256')
  #leaves = 0

  /** @throws `spill_failed` */
  constructor(path: string) {
    this.#path = path
    this.#descriptor = orSpillFailed(path, () => openSync(path, 'w'))
  }

  /** Appends leaves, whose keys must be above those before. @throws `spill_failed` */
  append(leaves: Uint8Array): void {
    for (let at = 0; at < leaves.length; at += SAVED_LEAF_LENGTH) {
      this.#counts[(leaves[at]! << 4) | (leaves[at + 1]! >> 4)]!++
    }
    this.#digest.update(leaves)
    writeAt(this.#path, this.#descriptor, leaves, LEAVES_AT + this.#leaves * SAVED_LEAF_LENGTH)
    this.#leaves += leaves.length / SAVED_LEAF_LENGTH
  }

  /**
   * Writes the header, and syncs the file.
   * @returns the digest of the file, in hex
   * @throws `spill_failed`
   */
  finish(version: bigint, root: Uint8Array): string {
    const head = Buffer.alloc(LEAVES_AT)
    MAGIC.copy(head)
    head.writeBigUInt64LE(version, 8)
    head.writeBigUInt64LE(BigInt(this.#leaves), 16)
    head.set(root, 24)
    let before = 0
    for (let prefix = 0; prefix <= PREFIXES; prefix++) {
      head.writeBigUInt64LE(BigInt(before), HEADER_LENGTH + 8 * prefix)
      before += this.#counts[prefix] ?? 0
    }
    writeAt(this.#path, this.#descriptor, head, 0)
    orSpillFailed(this.#path, () => fsyncSync(this.#descriptor))
    return createHash('sha256').update(head).update(this.#digest.digest()).digest('hex')
  }

  /** Closes the file, which stays as it is. */
  close(): void {
    closeSync(this.#descriptor)
  }
}

/** The leaves of a state in a file. */
export interface LeavesFile {
  readonly version: bigint
  readonly leaves: number
  readonly root: Uint8Array
  /** Reads the leaves of a part: those whose key hash begins with the bits of its number. @throws `spill_failed` */
  read(part: number, depth: number): Uint8Array
  /** The digest of the file, in hex, once all parts are read, each once and in order. */
  digest(): string
  /** Closes the file. */
  close(): void
}

/**
 * Opens a file that `LeavesWriter` wrote. Undefined if there is none, or it is damaged.
 * @throws `spill_failed` if the system does not read it
 */
export function openLeavesFile(path: string): LeavesFile | undefined {
  return openToRead(path, (descriptor) => {
    const file = readLeavesFile(path, descriptor)
    if (!file) closeSync(descriptor)
    return file
  })
}

function readLeavesFile(path: string, descriptor: number): LeavesFile | undefined {
  const head = Buffer.alloc(LEAVES_AT)
  const startOf = (prefix: number) => Number(head.readBigUInt64LE(HEADER_LENGTH + 8 * prefix))
  const leaves = fillFrom(path, descriptor, head, 0) ? Number(head.readBigUInt64LE(16)) : -1
  let isSound = head.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) === 0 && startOf(0) === 0
  for (let prefix = 0; isSound && prefix < PREFIXES; prefix++) isSound = startOf(prefix) <= startOf(prefix + 1)
  const length = LEAVES_AT + leaves * SAVED_LEAF_LENGTH
  if (!isSound || startOf(PREFIXES) !== leaves || fstatSync(descriptor).size !== length) return undefined
  const digest = createHash('sha256')
  return {
    version: head.readBigUInt64LE(8),
    leaves,
    root: Uint8Array.from(head.subarray(24, 24 + HASH_LENGTH)),
    read(part, depth) {
      const width = 2 ** (MOST_PART_DEPTH - depth)
      const first = startOf(part * width)
      const bytes = Buffer.alloc((startOf((part + 1) * width) - first) * SAVED_LEAF_LENGTH)
      if (!fillFrom(path, descriptor, bytes, LEAVES_AT + first * SAVED_LEAF_LENGTH)) {
        throw spillFailed.cannotSpill(path, new Error('it is shorter than the written file'))
      }
      digest.update(bytes)
      return bytes
    },
    digest: () => createHash('sha256').update(head).update(digest.digest()).digest('hex'),
    close: () => closeSync(descriptor),
  }
}
