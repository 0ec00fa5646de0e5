import { Buffer } from 'node:buffer'
import { inflateRawSync } from 'node:zlib'
import { MAX_VALUE_LENGTH } from '@ledger-state/engine'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions } from '../lmdb/table.js'
import { PAGE_PIECE_LENGTH } from './large-values.js'

// A bundle is a large value that consists of frames:
//   u8 0, as they are, or 1, deflated | u32 length of the values | u32 length as stored | the values as stored
// A frame consists of superseded values, also of several keys.

/** A value in a frame of a bundle. */
export interface PackedBytes {
  /** Id of the bundle. */
  readonly id: number
  /** Offset of the frame in the bundle. */
  readonly frame: number
  /** Offset of the value in the frame. */
  readonly start: number
  /** Length of the value. */
  readonly length: number
}

/** Length of a reference to a value in a bundle: u48 id | u32 length | u32 frame | u16 start. */
export const PACKED_REFERENCE_LENGTH = 16
export const FRAME_HEADER_LENGTH = 9
/** Length that only a frame with a single value exceeds. */
export const MAX_FRAME_LENGTH = 2 ** 14
export const PLAIN = 0
export const DEFLATED = 1

type Bundles = Pick<LmdbStore, 'large' | 'verifyReads'>

/** Reads a value of a bundle. @throws `store_corrupt` */
export function readPacked(
  store: Bundles,
  { id, frame, start, length }: PackedBytes,
  options: ReadOptions,
): Uint8Array {
  const header = readFrameHeader(store, id, frame, options)
  if (start + length > header.length) throw storeCorrupt(`a frame of the bundle ${id} is too short`)
  if (!header.isDeflated) return readPart(store, id, frame + FRAME_HEADER_LENGTH + start, length, options)
  // A copy, so that the frame is not kept as long as the value.
  return Buffer.from(inflateFrame(store, id, frame, header, options).subarray(start, start + length))
}

/**
 * Reads a whole frame. Returns the length of its values, and the offset of its end in the bundle.
 * @throws `store_corrupt`
 */
export function checkFrame(store: Bundles, id: number, frame: number, options: ReadOptions) {
  const header = readFrameHeader(store, id, frame, options)
  if (header.isDeflated) inflateFrame(store, id, frame, header, options)
  return { length: header.length, end: frame + FRAME_HEADER_LENGTH + header.storedLength }
}

interface FrameHeader {
  readonly isDeflated: boolean
  readonly length: number
  readonly storedLength: number
}

function readFrameHeader(store: Bundles, id: number, frame: number, options: ReadOptions): FrameHeader {
  const bytes = readPart(store, id, frame, FRAME_HEADER_LENGTH, options)
  const header = {
    isDeflated: bytes[0] === DEFLATED,
    length: bytes.readUInt32BE(1),
    storedLength: bytes.readUInt32BE(5),
  }
  const { isDeflated, length, storedLength } = header
  const isSound = isDeflated ? storedLength < length : bytes[0] === PLAIN && storedLength === length
  if (!isSound || length > Math.max(MAX_FRAME_LENGTH, MAX_VALUE_LENGTH)) throw frameDamaged(id)
  return header
}

function inflateFrame(
  store: Bundles,
  id: number,
  frame: number,
  { length, storedLength }: FrameHeader,
  options: ReadOptions,
): Buffer {
  const stored = readPart(store, id, frame + FRAME_HEADER_LENGTH, storedLength, options)
  let values: Buffer | undefined
  try {
    values = inflateRawSync(stored, { maxOutputLength: length })
  } catch (cause) {
    throw frameDamaged(id, cause)
  }
  if (values.length !== length) throw frameDamaged(id)
  return values
}

function frameDamaged(id: number, cause?: unknown): Error {
  return storeCorrupt(`a frame of the bundle ${id} does not parse`, cause)
}

/** Reads a part of a bundle from its pieces. */
function readPart(
  { large, verifyReads }: Bundles,
  id: number,
  offset: number,
  length: number,
  options: ReadOptions,
): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  const record = new SharedRecord()
  for (let done = 0; done < length; ) {
    const piece = Math.floor((offset + done) / PAGE_PIECE_LENGTH)
    const start = (offset + done) % PAGE_PIECE_LENGTH
    const key = numberedKey(id, piece)
    const isThere = record.load(large, key, options)
    const count = Math.min(length - done, PAGE_PIECE_LENGTH - start)
    if (!isThere || record.length < start + count + CHECKSUM_LENGTH) {
      throw storeCorrupt(`piece ${piece} of the bundle ${id} is missing or too short`)
    }
    if (verifyReads) record.verify(numberedKeySeed(key))
    bytes.set(new Uint8Array(record.bytes.buffer, record.bytes.byteOffset + start, count), done)
    done += count
  }
  return bytes
}
