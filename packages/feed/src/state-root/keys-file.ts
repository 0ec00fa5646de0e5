import { Buffer } from 'node:buffer'
import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'
import { ByteReader } from '@ledger-state/core'
import { badStateTree } from '../errors.js'
import { openToRead, orSpillFailed, readAt, writeAt } from './file-bytes.js'
import { MOST_PART_DEPTH } from './leaves-file.js'

// The keys of a state by the first bits of their hashes.
//
// header: 8 magic | u64 version | for each value of the first 12 bits of a key hash, and once behind the last, the place
// of its list, u64; the lists: raw deflate of byte strings in the order of their bytes, or nothing. Numbers are
// little-endian. Nothing of it is trusted: whoever uses the keys compares the root of a subtree.

const MAGIC = Buffer.from('LSKEYS\0\x01')
const HEADER_LENGTH = 16
const PREFIXES = 2 ** MOST_PART_DEPTH
const LISTS_AT = HEADER_LENGTH + (PREFIXES + 1) * 8
/** Most bytes of the keys of a list. A longer one is damaged. */
const MOST_LIST_BYTES = 2 ** 30

/** Compressed lists of successive prefixes. */
export interface KeyLists {
  readonly lists: Uint8Array<ArrayBuffer>
  /** Bytes of each list. */
  readonly lengths: Uint32Array<ArrayBuffer>
}

/** Writes the keys of a state. The file is durable after `finish`. */
export class KeysWriter {
  readonly #path: string
  readonly #descriptor: number
  readonly #places = [LISTS_AT]

  /** @throws `spill_failed` */
  constructor(path: string) {
    this.#path = path
    this.#descriptor = orSpillFailed(path, () => openSync(path, 'w'))
  }

  /** Appends the lists of the next prefixes. @throws `spill_failed` */
  append({ lists, lengths }: KeyLists): void {
    const place = this.#places.at(-1)!
    writeAt(this.#path, this.#descriptor, lists, place)
    let end = place
    for (const length of lengths) {
      end += length
      this.#places.push(end)
    }
  }

  /**
   * Writes the header, and syncs the file.
   * @returns the length of the file
   * @throws `spill_failed`
   */
  finish(version: bigint): number {
    const head = Buffer.alloc(LISTS_AT)
    MAGIC.copy(head)
    head.writeBigUInt64LE(version, 8)
    for (const [prefix, place] of this.#places.entries()) {
      head.writeBigUInt64LE(BigInt(place), HEADER_LENGTH + 8 * prefix)
    }
    writeAt(this.#path, this.#descriptor, head, 0)
    orSpillFailed(this.#path, () => fsyncSync(this.#descriptor))
    return this.#places.at(-1)!
  }

  /** Closes the file, which stays as it is. */
  close(): void {
    closeSync(this.#descriptor)
  }
}

/** The keys of a state in a file. */
export interface KeysFile {
  /** Every key that had a value up to this version is in the file. */
  readonly version: bigint
  /**
   * Reads the compressed lists of a part: of the keys whose hash begins with the bits of its number.
   * @throws `state_tree_damaged`
   */
  read(part: number, depth: number): KeyLists
  /** Closes the file. */
  close(): void
}

/**
 * Opens a file that `KeysWriter` wrote. Undefined if there is none.
 * @throws `state_tree_damaged`
 */
export function openKeysFile(path: string): KeysFile | undefined {
  return openToRead(path, (descriptor) => {
    const read = (length: number, place: number) =>
      readAt(path, descriptor, Buffer.from(new ArrayBuffer(length)), place)
    const head = read(LISTS_AT, 0)
    const placeOf = (prefix: number) => Number(head.readBigUInt64LE(HEADER_LENGTH + 8 * prefix))
    let isSound = head.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) === 0 && placeOf(0) === LISTS_AT
    for (let prefix = 0; isSound && prefix < PREFIXES; prefix++) isSound = placeOf(prefix) <= placeOf(prefix + 1)
    if (!isSound || fstatSync(descriptor).size !== placeOf(PREFIXES)) throw badStateTree(path, 'its header is damaged')
    return {
      version: head.readBigUInt64LE(8),
      read(part, depth) {
        const width = 2 ** (MOST_PART_DEPTH - depth)
        const first = part * width
        const places = Array.from({ length: width + 1 }, (_, at) => placeOf(first + at))
        const lists = new Uint8Array(read(places[width]! - places[0]!, places[0]!).buffer as ArrayBuffer)
        const lengths = Uint32Array.from({ length: width }, (_, at) => places[at + 1]! - places[at]!)
        return { lists, lengths }
      },
      close: () => closeSync(descriptor),
    }
  })
}

/** The keys of a compressed list. @throws errors of zlib, `invalid_bcs` */
export function keysOfList(list: Uint8Array): Uint8Array[] {
  if (list.length === 0) return []
  const bytes = inflateRawSync(list, { maxOutputLength: MOST_LIST_BYTES })
  const reader = new ByteReader(bytes)
  const keys: Uint8Array[] = []
  while (reader.remaining > 0) keys.push(reader.readByteString())
  return keys
}
