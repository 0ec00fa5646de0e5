import { Buffer } from 'node:buffer'
import { checksum } from '../bytes/checksum.js'

// A segment file: the beginning of an LMDB environment (`lmdb-envelope.ts`), the segment, and zeros up to the next page.
// A segment: header · blocks · index · separators · filter · sketch · lists of blocks · footer. The parts after the blocks begin at
// multiples of 8. Places count from the header. Numbers are little-endian.
//
// Header: `LSSEG` 00 00 04 · u64 store id · u64 first version · u64 last version · u64 seed of the hash · u32 level ·
//   u8 flags (1: a base) · zeros · u32 CRC: 128 bytes
// Block: u32 CRC · u8 codec · u24 0 · u32 length of the content · the content, or its compressed form. The seed of the
//   CRC is made of store id, first version and place. A content that is stored as it is may be followed by zeros, which
//   end the frame: 8 KiB of the file.
// Index of S blocks: S × f64 version that the separator ends with, less the first; −1 for none ·
//   S × u32 four bytes of the separator after those that separators 1 to S − 1 begin with · S × u32 end of the separator ·
//   S × u32 first block whose separator has the same key · (S + 1) × u32 place
// Separators: the bytes of all, one after the other
// Filter: `key-filter.ts`
// Sketch: n × f64 hash, ascending: `key-sketch.ts`
// Lists of blocks: n × u64 first version · n × u32 end of the list · records (`records/block-lists.ts`)
// Footer: u64 writes · u64 keys · u64 bytes of keys and values · u32 blocks · u32 lists · u48 place of the index, of the
//   separators, of the filter, of the sketch, of the lists, of the footer · zeros · at 72: u32 CRC of the index, of the
//   separators, of the filter, of the sketch, of the lists · SHA-256 of the segment up to here · u32 CRC: 128 bytes

const SEGMENT_FORMAT = 4
export const HEADER_LENGTH = 128
export const FOOTER_LENGTH = 128
export const BLOCK_HEAD_LENGTH = 12
/** A file is shorter: places are below 2^31, so that they are small integers. */
export const MAX_SEGMENT_BYTES = 2 ** 31 - 2 ** 20

/** Most writes of an entry of a block. */
export const MOST_ENTRY_WRITES = 16
/** Most entries of a block. */
export const MOST_BLOCK_ENTRIES = 255
/** Bytes of an index for each block. */
export const INDEX_BYTES_PER_BLOCK = 24

const MAGIC = Buffer.from(`LSSEG\0\0${String.fromCharCode(SEGMENT_FORMAT)}`, 'latin1')
const CRC_AT = HEADER_LENGTH - 4
const SHA_AT = FOOTER_LENGTH - 4 - 32
const CRCS_AT = 72
const BASE_FLAG = 1

/** Facts about a segment that are known before it is written. */
export interface SegmentIdentity {
  readonly storeId: bigint
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  /** Secret of the hash of keys: 8 bytes. */
  readonly hashSeed: Uint8Array
  readonly level: number
  /** Whether nothing lies below it: it keeps only the newest write of each key up to a version. */
  readonly isBase: boolean
}

/** Parts of a segment after its blocks, in their order. */
export const PARTS = ['index', 'separators', 'filter', 'sketch', 'lists'] as const
export type PartName = (typeof PARTS)[number]

export interface Part {
  readonly start: number
  readonly end: number
  readonly crc: number
}

/** Content of the footer. */
export interface SegmentSummary {
  readonly writes: number
  readonly keys: number
  /** Bytes of keys and values, each key counted with each write. */
  readonly payloadBytes: number
  readonly blocks: number
  readonly lists: number
  readonly parts: Readonly<Record<PartName, Part>>
  /** SHA-256 of the segment up to the hash itself. */
  readonly sha256: Uint8Array
}

export function encodeHeader({
  storeId,
  firstVersion,
  lastVersion,
  hashSeed,
  level,
  isBase,
}: SegmentIdentity): Buffer<ArrayBuffer> {
  const header = Buffer.alloc(HEADER_LENGTH)
  header.set(MAGIC)
  header.writeBigUInt64LE(storeId, 8)
  header.writeBigUInt64LE(firstVersion, 16)
  header.writeBigUInt64LE(lastVersion, 24)
  header.set(hashSeed, 32)
  header.writeUInt32LE(level, 40)
  header[44] = isBase ? BASE_FLAG : 0
  header.writeUInt32LE(checksum(header, 0, CRC_AT, 0), CRC_AT)
  return header
}

/** Decodes a header. Returns the fault if it is damaged. */
export function decodeHeader(header: Buffer): SegmentIdentity | string {
  if (header.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0) return 'it does not begin as a segment does'
  if (header.readUInt32LE(CRC_AT) !== checksum(header, 0, CRC_AT, 0)) return 'the header does not match its checksum'
  return {
    storeId: header.readBigUInt64LE(8),
    firstVersion: header.readBigUInt64LE(16),
    lastVersion: header.readBigUInt64LE(24),
    hashSeed: Buffer.from(header.subarray(32, 40)),
    level: header.readUInt32LE(40),
    isBase: (header[44]! & BASE_FLAG) !== 0,
  }
}

/** Encodes a footer up to the hash. */
export function encodeFooter(summary: Omit<SegmentSummary, 'sha256'>, end: number): Buffer<ArrayBuffer> {
  const footer = Buffer.alloc(FOOTER_LENGTH)
  footer.writeBigUInt64LE(BigInt(summary.writes), 0)
  footer.writeBigUInt64LE(BigInt(summary.keys), 8)
  footer.writeBigUInt64LE(BigInt(summary.payloadBytes), 16)
  footer.writeUInt32LE(summary.blocks, 24)
  footer.writeUInt32LE(summary.lists, 28)
  for (const [at, name] of PARTS.entries()) {
    footer.writeUIntLE(summary.parts[name].start, 32 + 6 * at, 6)
    footer.writeUInt32LE(summary.parts[name].crc, CRCS_AT + 4 * at)
  }
  footer.writeUIntLE(end, 32 + 6 * PARTS.length, 6)
  return footer
}

/** The part of a footer that the hash covers. */
export function hashedFooter(footer: Buffer): Buffer {
  return footer.subarray(0, SHA_AT)
}

export function sealFooter(footer: Buffer, sha256: Uint8Array): void {
  footer.set(sha256, SHA_AT)
  footer.writeUInt32LE(checksum(footer, 0, CRC_AT, 0), CRC_AT)
}

/** Decodes the footer of a segment whose footer is at a place. Returns the fault if it is damaged. */
export function decodeFooter(footer: Buffer, place: number): SegmentSummary | string {
  if (footer.readUInt32LE(CRC_AT) !== checksum(footer, 0, CRC_AT, 0)) return 'the footer does not match its checksum'
  const places = Array.from({ length: PARTS.length + 1 }, (_, at) => footer.readUIntLE(32 + 6 * at, 6))
  const blocks = footer.readUInt32LE(24)
  const isAscending = places.every((start, at) => start % 8 === 0 && start >= (places[at - 1] ?? HEADER_LENGTH))
  if (!isAscending || places.at(-1) !== place) return 'the footer names places that no segment has'
  if (places[1]! - places[0]! < blocks * INDEX_BYTES_PER_BLOCK + 4) return 'the index is too short for the blocks'
  const part = (at: number): Part => ({
    start: places[at]!,
    end: places[at + 1]!,
    crc: footer.readUInt32LE(CRCS_AT + 4 * at),
  })
  return {
    writes: Number(footer.readBigUInt64LE(0)),
    keys: Number(footer.readBigUInt64LE(8)),
    payloadBytes: Number(footer.readBigUInt64LE(16)),
    blocks,
    lists: footer.readUInt32LE(28),
    parts: { index: part(0), separators: part(1), filter: part(2), sketch: part(3), lists: part(4) },
    sha256: Buffer.from(footer.subarray(SHA_AT, CRC_AT)),
  }
}

/** Part of the seeds of checksums that all blocks of a file share. */
export function fileSeed({ storeId, firstVersion }: SegmentIdentity): number {
  const store = Math.imul(Number(storeId & 0xffff_ffffn) ^ Number(storeId >> 32n), 0x9e37_79b1)
  const version = Math.imul(Number(firstVersion & 0xffff_ffffn) ^ Number(firstVersion >> 32n), 0x85eb_ca6b)
  return store ^ version
}

/** Seed of the checksum of a block, so that a block of another file, or in another place, does not match. */
export function blockSeed(seedOfFile: number, place: number): number {
  return (Math.imul(seedOfFile ^ place, 0xc2b2_ae35) ^ place) >>> 0
}
