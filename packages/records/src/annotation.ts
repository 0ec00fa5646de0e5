import { ByteReader, ByteWriter } from '@ledger-state/core'
import type { ValueMetadata } from '@ledger-state/type-tag'
import { readVarint, writeVarint } from './varint.js'

/** The data of a write in addition to its value. */
export interface ValueNote {
  readonly metadata: ValueMetadata | undefined
  /** Whether the source said that the write created the key. False if the source does not say such things. */
  readonly isCreation: boolean
}

// The annotation of a value in a store, 1 to 29 bytes, mostly 1 or 7 to 9:
//   varint: code of the slot deposit × 4 + 2 if there is a bytes deposit + 1 for a creation
//   | varint, only if there is one: code of the bytes deposit
//   | creation time, microseconds since BASE_TIME, as few bytes as it needs, little-endian
// An annotation of the one byte 1 is a creation without metadata.

/**
 * Deposits for a slot that networks have had. The code of each is its index; any other deposit has its number + 3 as
 * its code.
 */
const SLOT_DEPOSITS = [0n, 40_000n, 50_000n]
/** Unit of deposits for bytes, in octas: all deposits are multiples of it. */
const BYTE_DEPOSIT = 40n
/** Base of times in annotations: 2022-08-08, before the first network. Times after it take 6 bytes until 2031. */
const BASE_TIME = 1_660_000_000_000_000n
const CREATION_ALONE = 1
const U64 = 2n ** 64n

/** Encodes a note as an annotation; undefined if there is nothing to say. */
export function noteToAnnotation({ metadata, isCreation }: ValueNote): Uint8Array | undefined {
  if (!metadata) return isCreation ? Uint8Array.of(CREATION_ALONE) : undefined
  return shortAnnotation(metadata, isCreation) ?? longAnnotation(metadata, isCreation)
}

const SLOT_DEPOSIT_NUMBERS = SLOT_DEPOSITS.map(Number)
const BYTE_DEPOSIT_NUMBER = Number(BYTE_DEPOSIT)
const BASE_TIME_NUMBER = Number(BASE_TIME)
/** Bound below which the codes of deposits are exact as JavaScript numbers. */
const SHORT_DEPOSIT = 2 ** 48

/**
 * Makes the annotation that `longAnnotation` makes, with JavaScript numbers, in a third of the time. Undefined if they
 * would not be exact.
 */
function shortAnnotation(
  { slotDeposit, bytesDeposit, creationTimeUsec }: ValueMetadata,
  isCreation: boolean,
): Uint8Array | undefined {
  const slot = Number(slotDeposit)
  const bytes = bytesDeposit === undefined ? undefined : Number(bytesDeposit)
  const time = Number(creationTimeUsec) - BASE_TIME_NUMBER
  if (slot >= SHORT_DEPOSIT || time < 0 || time > Number.MAX_SAFE_INTEGER - BASE_TIME_NUMBER) return undefined
  if (bytes !== undefined && bytes >= SHORT_DEPOSIT) return undefined
  const known = SLOT_DEPOSIT_NUMBERS.indexOf(slot)
  const head =
    (known < 0 ? slot + SLOT_DEPOSITS.length : known) * 4 + (bytes === undefined ? 0 : 2) + (isCreation ? 1 : 0)
  const isMultiple = bytes !== undefined && bytes % BYTE_DEPOSIT_NUMBER === 0
  const bytesCode = bytes === undefined ? undefined : isMultiple ? (bytes / BYTE_DEPOSIT_NUMBER) * 2 : bytes * 2 + 1
  const length = varintLength(head) + (bytesCode === undefined ? 0 : varintLength(bytesCode)) + timeLength(time)
  const annotation = new Uint8Array(length)
  let at = putVarint(annotation, 0, head)
  if (bytesCode !== undefined) at = putVarint(annotation, at, bytesCode)
  for (let rest = time; at < length; rest = Math.floor(rest / 256)) annotation[at++] = rest
  return annotation
}

function longAnnotation(
  { slotDeposit, bytesDeposit, creationTimeUsec }: ValueMetadata,
  isCreation: boolean,
): Uint8Array {
  const known = SLOT_DEPOSITS.indexOf(slotDeposit)
  const slotCode = known < 0 ? slotDeposit + BigInt(SLOT_DEPOSITS.length) : BigInt(known)
  const writer = new ByteWriter()
  writeVarint(writer, slotCode * 4n + (bytesDeposit === undefined ? 0n : 2n) + (isCreation ? 1n : 0n))
  if (bytesDeposit !== undefined) {
    const isMultiple = bytesDeposit % BYTE_DEPOSIT === 0n
    writeVarint(writer, isMultiple ? (bytesDeposit / BYTE_DEPOSIT) * 2n : bytesDeposit * 2n + 1n)
  }
  // At least one byte, so that a note with metadata is longer than CREATION_ALONE.
  let time = (creationTimeUsec - BASE_TIME + U64) % U64
  if (time === 0n) writer.u8(0)
  for (; time > 0n; time >>= 8n) writer.u8(Number(time & 0xffn))
  return writer.toBytes()
}

/** Decodes an annotation that `noteToAnnotation` made. @throws `invalid_bcs` for other bytes */
export function annotationToNote(annotation: Uint8Array | undefined): ValueNote {
  if (!annotation) return { metadata: undefined, isCreation: false }
  if (annotation.length === 1 && annotation[0] === CREATION_ALONE) return { metadata: undefined, isCreation: true }
  const reader = new ByteReader(annotation)
  const head = readVarint(reader)
  const slotCode = head >> 2n
  const slotDeposit = SLOT_DEPOSITS[Number(slotCode)] ?? slotCode - BigInt(SLOT_DEPOSITS.length)
  let bytesDeposit: bigint | undefined
  if (head & 2n) {
    const code = readVarint(reader)
    bytesDeposit = code & 1n ? code >> 1n : (code >> 1n) * BYTE_DEPOSIT
  }
  if (reader.remaining < 1 || reader.remaining > 8) throw reader.fault(`a time of ${reader.remaining} bytes`)
  let time = 0n
  for (let shift = 0n; reader.remaining > 0; shift += 8n) time |= BigInt(reader.readU8()) << shift
  return {
    metadata: { slotDeposit, bytesDeposit, creationTimeUsec: (time + BASE_TIME) % U64 },
    isCreation: (head & 1n) === 1n,
  }
}

function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
  return length
}

function timeLength(time: number): number {
  let length = 1
  for (let rest = time; rest >= 0x100; rest = Math.floor(rest / 0x100)) length++
  return length
}

/** Writes a varint at `at`, and returns the offset after it. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[end++] = (rest % 0x80) | 0x80
  bytes[end++] = rest
  return end
}
