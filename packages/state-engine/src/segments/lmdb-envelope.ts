import { Buffer } from 'node:buffer'

// A segment file is an LMDB environment (the format of lmdb 3.5.6: see `data-pages.ts`) of one value with the key `s`,
// which is the segment. Pages 0 and 1 are meta pages, page 2 is the leaf, and the value is in the overflow pages from page
// 3 on, in one piece. LMDB can write such a file in values of about 64 MiB, in 2.4 to 9.9 times the CPU time of writing the
// bytes (measured at 512 MiB), and each value must be in memory as a whole; so the writer writes this beginning itself.

const PAGE_SIZE = 4_096
const PAGE_HEADER_LENGTH = 24
const LEAF = 2
const OVERFLOW = 3
/** Offset of the segment in its file. */
export const ENVELOPE_LENGTH = OVERFLOW * PAGE_SIZE + PAGE_HEADER_LENGTH

const [LEAF_PAGE, OVERFLOW_PAGE, META_PAGE] = [2, 4, 8]
const MAGIC = 0xbeef_c0de
const DATA_VERSION = 2
const NO_PAGE = 0xffff_ffff_ffff_ffffn
/** Flags of the environment: keys of the free list are integers, and the environment is a file. */
const ENVIRONMENT_FLAGS = 0x4008
const TRANSACTION = 1n
/** Offset of the only node in page 2, at its end. */
const NODE_AT = 4_062
const IN_OVERFLOW_PAGES = 1
const KEY = 's'

/** Key of the segment in its environment. */
export const SEGMENT_KEY = Buffer.from(KEY)

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
  const pages = BigInt(overflowPages(length))
  putMeta(bytes, 0, length)
  putMeta(bytes, 1, length)
  bytes.writeUInt16LE(1, PAGE_SIZE + 102)
  bytes.writeBigUInt64LE(1n, PAGE_SIZE + 112)
  bytes.writeBigUInt64LE(pages, PAGE_SIZE + 120)
  bytes.writeBigUInt64LE(1n, PAGE_SIZE + 128)
  bytes.writeBigUInt64LE(BigInt(LEAF), PAGE_SIZE + 136)
  bytes.writeBigUInt64LE(BigInt(LEAF) + pages, PAGE_SIZE + 144)
  bytes.writeBigUInt64LE(TRANSACTION, PAGE_SIZE + 152)
  const leaf = LEAF * PAGE_SIZE
  putPageHeader(bytes, LEAF, LEAF_PAGE)
  bytes.writeUInt16LE(2, leaf + 20)
  bytes.writeUInt16LE(NODE_AT - PAGE_HEADER_LENGTH, leaf + 22)
  bytes.writeUInt16LE(NODE_AT - PAGE_HEADER_LENGTH, leaf + 24)
  bytes.writeUInt32LE(length, leaf + NODE_AT)
  bytes.writeUInt16LE(IN_OVERFLOW_PAGES, leaf + NODE_AT + 4)
  bytes.writeUInt16LE(KEY.length, leaf + NODE_AT + 6)
  bytes.write(KEY, leaf + NODE_AT + 8, 'latin1')
  bytes.writeBigUInt64LE(BigInt(OVERFLOW), leaf + NODE_AT + 9)
  bytes.writeBigUInt64LE(TRANSACTION, leaf + NODE_AT + 17)
  bytes.writeBigUInt64LE(pages, leaf + NODE_AT + 25)
  putPageHeader(bytes, OVERFLOW, OVERFLOW_PAGE)
  bytes.writeUInt32LE(Number(pages), OVERFLOW * PAGE_SIZE + 20)
  return bytes
}

function putMeta(bytes: Buffer, page: number, length: number): void {
  const at = page * PAGE_SIZE
  bytes.writeBigUInt64LE(BigInt(page), at)
  bytes.writeUInt16LE(META_PAGE, at + 18)
  bytes.writeUInt32LE(MAGIC, at + 24)
  bytes.writeUInt32LE(DATA_VERSION, at + 28)
  bytes.writeBigUInt64LE(BigInt(fileLength(length)), at + 40)
  bytes.writeUInt32LE(PAGE_SIZE, at + 48)
  bytes.writeUInt16LE(ENVIRONMENT_FLAGS, at + 52)
  // The free list is empty; the main database is, too, in page 0.
  bytes.writeBigUInt64LE(NO_PAGE, at + 88)
  bytes.writeBigUInt64LE(NO_PAGE, at + 136)
  bytes.writeBigUInt64LE(1n, at + 144)
}

function putPageHeader(bytes: Buffer, page: number, flags: number): void {
  bytes.writeBigUInt64LE(BigInt(page), page * PAGE_SIZE)
  bytes.writeBigUInt64LE(TRANSACTION, page * PAGE_SIZE + 8)
  bytes.writeUInt16LE(flags, page * PAGE_SIZE + 18)
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
