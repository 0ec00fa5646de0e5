import { Buffer } from 'node:buffer'
import {
  DEPTH_AT,
  ENTRIES_AT,
  IN_OVERFLOW_PAGES,
  LAST_PAGE_AT,
  LEAF_PAGE,
  LEAF_PAGES_AT,
  LOWER_AT,
  MAIN_AT,
  NODE_HEADER_LENGTH,
  OVERFLOW_COUNT_AT,
  OVERFLOW_PAGE,
  OVERFLOW_PAGES_AT,
  OVERFLOW_REFERENCE_LENGTH,
  PAGE_FLAGS_AT,
  PAGE_HEADER_LENGTH,
  PAGE_TRANSACTION_AT,
  ROOT_AT,
  TRANSACTION_AT,
  UPPER_AT,
} from '../lmdb/data-pages.js'
import { emptyDataFile, PAGE_SIZE } from '../lmdb/empty-file.js'

// A segment file is an LMDB environment (the format of lmdb 3.5.6: see `data-pages.ts`) of one value with the key `s`,
// which is the segment. Pages 0 and 1 are meta pages, page 2 is the leaf, and the value is in the overflow pages from page
// 3 on, in one piece. LMDB can write such a file in values of about 64 MiB, in 2.4 to 9.9 times the CPU time of writing the
// bytes (measured at 512 MiB), and each value must be in memory as a whole; so the writer writes this beginning itself.

const LEAF = 2
const OVERFLOW = 3
/** Offset of the segment in its file. */
export const ENVELOPE_LENGTH = OVERFLOW * PAGE_SIZE + PAGE_HEADER_LENGTH

/** Key of the segment in its environment. */
export const SEGMENT_KEY = Buffer.from('s')
/** Number of the only transaction. Page 0 has the empty environment before it. */
const TRANSACTION = 1n
/** Offset of the only node in the leaf, at its end. It is aligned to 2 bytes. */
const NODE_AT = PAGE_SIZE - ((NODE_HEADER_LENGTH + SEGMENT_KEY.length + OVERFLOW_REFERENCE_LENGTH + 1) & ~1)

/** Length of the file of a segment of `length` bytes. */
export function fileLength(length: number): number {
  return (OVERFLOW + overflowPages(length)) * PAGE_SIZE
}

function overflowPages(length: number): number {
  return Math.ceil((PAGE_HEADER_LENGTH + length) / PAGE_SIZE)
}

/** Makes the beginning of the file of a segment of `length` bytes. */
export function encodeEnvelope(length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(ENVELOPE_LENGTH)
  emptyDataFile(fileLength(length)).copy(bytes)
  const pages = overflowPages(length)
  putMainDatabase(bytes.subarray(PAGE_SIZE), pages)
  putLeaf(pageOf(bytes, LEAF, LEAF_PAGE), length, pages)
  pageOf(bytes, OVERFLOW, OVERFLOW_PAGE).writeUInt32LE(pages, OVERFLOW_COUNT_AT)
  return bytes
}

/** Gives the newer meta page the database that has the segment. */
function putMainDatabase(meta: Buffer, pages: number): void {
  meta.writeUInt16LE(1, MAIN_AT + DEPTH_AT)
  meta.writeBigUInt64LE(1n, MAIN_AT + LEAF_PAGES_AT)
  meta.writeBigUInt64LE(BigInt(pages), MAIN_AT + OVERFLOW_PAGES_AT)
  meta.writeBigUInt64LE(1n, MAIN_AT + ENTRIES_AT)
  meta.writeBigUInt64LE(BigInt(LEAF), MAIN_AT + ROOT_AT)
  meta.writeBigUInt64LE(BigInt(LEAF + pages), LAST_PAGE_AT)
  meta.writeBigUInt64LE(TRANSACTION, TRANSACTION_AT)
}

/** Puts the node into the leaf: the key, and a reference to the overflow pages. */
function putLeaf(leaf: Buffer, length: number, pages: number): void {
  leaf.writeUInt16LE(2, LOWER_AT)
  leaf.writeUInt16LE(NODE_AT - PAGE_HEADER_LENGTH, UPPER_AT)
  leaf.writeUInt16LE(NODE_AT - PAGE_HEADER_LENGTH, PAGE_HEADER_LENGTH)
  leaf.writeUInt32LE(length, NODE_AT)
  leaf.writeUInt16LE(IN_OVERFLOW_PAGES, NODE_AT + 4)
  leaf.writeUInt16LE(SEGMENT_KEY.length, NODE_AT + 6)
  leaf.set(SEGMENT_KEY, NODE_AT + NODE_HEADER_LENGTH)
  const reference = NODE_AT + NODE_HEADER_LENGTH + SEGMENT_KEY.length
  leaf.writeBigUInt64LE(BigInt(OVERFLOW), reference)
  leaf.writeBigUInt64LE(TRANSACTION, reference + 8)
  leaf.writeBigUInt64LE(BigInt(pages), reference + 16)
}

/** A page with its header. */
function pageOf(bytes: Buffer, number: number, flags: number): Buffer {
  const page = bytes.subarray(number * PAGE_SIZE)
  page.writeBigUInt64LE(BigInt(number), 0)
  page.writeBigUInt64LE(TRANSACTION, PAGE_TRANSACTION_AT)
  page.writeUInt16LE(flags, PAGE_FLAGS_AT)
  return page
}

/**
 * Reads the length of the segment from the beginning of its file. Returns undefined if any byte of that is not as the
 * writer writes it.
 */
export function decodeEnvelope(bytes: Buffer): number | undefined {
  if (bytes.length !== ENVELOPE_LENGTH) return undefined
  const length = bytes.readUInt32LE(LEAF * PAGE_SIZE + NODE_AT)
  return bytes.equals(encodeEnvelope(length)) ? length : undefined
}
