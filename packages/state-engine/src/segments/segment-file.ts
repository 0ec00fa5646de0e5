import { Buffer } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { checksum } from '../bytes/checksum.js'
import { storeCorruptErrors } from '../errors.js'
import { toReadError } from '../lmdb/damage-errors.js'
import {
  decodeFooter,
  decodeHeader,
  FOOTER_LENGTH,
  fileSeed,
  HEADER_LENGTH,
  MAX_SEGMENT_BYTES,
  type Part,
  type SegmentIdentity,
  type SegmentSummary,
} from './format.js'
import { decodeEnvelope, ENVELOPE_LENGTH, fileLength } from './lmdb-envelope.js'

const READ_AT_ONCE = 2 ** 20
const NOTHING = new Uint8Array(0)

/** A segment file that is open and whose header and footer are sound. Places count from the header. */
export class SegmentFile {
  readonly path: string
  /** Length of the segment, from header to footer. */
  readonly length: number
  readonly identity: SegmentIdentity
  /** Seed of the checksums of blocks: `blockSeed`. */
  readonly seed: number
  readonly summary: SegmentSummary
  readonly #descriptor: number

  /** Opens a file. @throws `store_corrupt`, and the error of the system if there is no such file */
  constructor(path: string) {
    this.path = path
    this.#descriptor = openSync(path, 'r')
    try {
      const envelope = this.#read(Buffer.alloc(ENVELOPE_LENGTH), -ENVELOPE_LENGTH)
      const length = decodeEnvelope(envelope)
      if (length === undefined || length < HEADER_LENGTH + FOOTER_LENGTH || length > MAX_SEGMENT_BYTES) {
        throw storeCorruptErrors.fileDamaged(path, 0, 'it does not begin as a file with a segment does')
      }
      this.length = length
      const { size } = fstatSync(this.#descriptor)
      if (size !== fileLength(length)) {
        throw storeCorruptErrors.fileDamaged(
          path,
          Math.min(size, fileLength(length)),
          `the file has ${size} of ${fileLength(length)} bytes`,
        )
      }
      const identity = decodeHeader(this.#read(Buffer.alloc(HEADER_LENGTH), 0))
      if (typeof identity === 'string') throw this.damaged(0, identity)
      this.identity = identity
      this.seed = fileSeed(identity)
      const footerAt = length - FOOTER_LENGTH
      const summary = decodeFooter(this.#read(Buffer.alloc(FOOTER_LENGTH), footerAt), footerAt)
      if (typeof summary === 'string') throw this.damaged(footerAt, summary)
      this.summary = summary
    } catch (error) {
      closeSync(this.#descriptor)
      throw error
    }
  }

  /** Length of the file, including the bytes around the segment. */
  get fileBytes(): number {
    return fileLength(this.length)
  }

  /** Reads as many bytes as the target has. @throws `store_corrupt` if the file ends before */
  read(target: Uint8Array, place: number): void {
    this.#read(target, place)
  }

  /**
   * Compares a part with its checksum, which also reads it into memory. Copies it to `target` if that is given, as far as that
   * has room. @throws `store_corrupt`
   */
  verifyPart({ start, end, crc }: Part, name: string, target: Uint8Array = NOTHING): void {
    const buffer = new Uint8Array(target.length < end - start ? Math.min(end - start, READ_AT_ONCE) : 0)
    let sum = 0
    for (let at = start; at < end; at += READ_AT_ONCE) {
      const count = Math.min(end - at, READ_AT_ONCE)
      const copied = target.subarray(at - start, at - start + count)
      const chunk = copied.length === count ? copied : buffer.subarray(0, count)
      this.read(chunk, at)
      if (chunk !== copied) copied.set(chunk.subarray(0, copied.length))
      sum = checksum(chunk, 0, count, sum)
    }
    if (sum !== crc) throw this.damaged(start, `the ${name} does not match its checksum`)
  }

  /** Whether the path still names this file. Another one may have taken its place, such as after the folder was replaced. */
  isInPlace(): boolean {
    const own = fstatSync(this.#descriptor, { bigint: true })
    const found = statSync(this.path, { bigint: true })
    return own.dev === found.dev && own.ino === found.ino
  }

  /** Error of damage at a place of the segment. */
  damaged(place: number, why: string): Error {
    return storeCorruptErrors.fileDamaged(this.path, ENVELOPE_LENGTH + place, why)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #read<T extends Uint8Array>(target: T, place: number): T {
    for (let done = 0; done < target.length; ) {
      const position = ENVELOPE_LENGTH + place + done
      const count = this.#readSome(target, done, position)
      if (count === 0) throw storeCorruptErrors.fileDamaged(this.path, position, 'the file is cut short')
      done += count
    }
    return target
  }

  /** Reads of values end here: an error of the system is one of the store. @throws `store_failed` */
  #readSome(target: Uint8Array, at: number, position: number): number {
    try {
      return readSync(this.#descriptor, target, at, target.length - at, position)
    } catch (cause) {
      throw toReadError(cause)
    }
  }
}
