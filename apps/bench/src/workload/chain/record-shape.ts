import { ADDRESS_LENGTH } from '@ledger-state/core'

/**
 * Computes the bytes of records of one type from the number of a record and the number of its earlier writes. Nothing
 * is stored for a record, so a ledger of 10⁸ keys needs no copy of its state to change a few bytes of each value.
 */
export interface RecordShape {
  readonly length: number
  /** The bytes after the write with this number; the first write is 0. */
  bytes(record: number, write: number): Buffer
}

/** A part of a record that always takes the same number of bytes. */
export interface Field {
  readonly length: number
  /** Bytes of the field where `fill` writes nothing; zeros by default. */
  readonly initial?: Uint8Array
  /**
   * Writes the record's bytes of the field at `at`. A field without this function never changes, and is the same in all
   * records.
   */
  fill?(target: Buffer, at: number, record: number, write: number): void
}

export type ChangingField = Field & Required<Pick<Field, 'fill'>>

export function createRecordShape(fields: readonly Field[]): RecordShape {
  const template = Buffer.alloc(lengthOf(fields))
  const filled: { readonly at: number; readonly fill: ChangingField['fill'] }[] = []
  let at = 0
  for (const { length, initial, fill } of fields) {
    if (initial) template.set(initial, at)
    if (fill) filled.push({ at, fill })
    at += length
  }
  return {
    length: template.length,
    bytes(record, write) {
      const bytes = Buffer.from(template)
      for (const { at, fill } of filled) fill(bytes, at, record, write)
      return bytes
    },
  }
}

export function lengthOf(fields: readonly Field[]): number {
  return fields.reduce((sum, { length }) => sum + length, 0)
}

export function fixed(initial: Uint8Array): Field {
  return { length: initial.length, initial }
}

export function u64(value: bigint): Field {
  const initial = Buffer.alloc(8)
  initial.writeBigUInt64LE(value)
  return { length: 8, initial }
}

/** An address that differs for each record; fields with the same salt have the same address. */
export function addressOf(salt: number): Field {
  return oneOfAddresses(salt, Number.MAX_SAFE_INTEGER)
}

/** One of `count` addresses, chosen by the number of the record. */
export function oneOfAddresses(salt: number, count: number): Field {
  return {
    length: ADDRESS_LENGTH,
    fill(target, at, record) {
      const number = record % count
      for (let word = 0; word < 8; word++) target.writeUInt32LE(mix(number, 8 * salt + word), at + 4 * word)
    },
  }
}

/** Hex digits that differ for each record. */
export function digitsOf(salt: number, length: number): Field {
  return {
    length,
    fill(target, at, record) {
      for (let digit = 0; digit < length; digit++) {
        target[at + digit] = DIGITS.charCodeAt((mix(record, salt + (digit >>> 3)) >>> (4 * (digit & 7))) & 15)
      }
    },
  }
}

/** A u64 that grows by one with every `every`th write, starting at write `phase`. */
export function counter(every = 1, phase = 0): Field {
  return {
    length: 8,
    fill(target, at, _record, write) {
      target.writeUIntLE(Math.floor((write + every - phase) / every), at, NUMBER_BYTES)
    },
  }
}

/**
 * An amount of 8 or 16 bytes, from some millions to 10¹³ units. Each write changes its lowest 24 bits, as a transfer of
 * 0.1 coins of 10⁸ units does.
 */
export function amount(length: 8 | 16, salt = 0): ChangingField {
  return {
    length,
    fill(target, at, record, write) {
      const high = mix(record, salt) >>> (12 + (record & 15))
      target.writeUIntLE(high * 2 ** 24 + (mix(record, (write << 4) | (salt & 15)) & 0xff_ffff), at, NUMBER_BYTES)
    },
  }
}

/** An amount that only each `every`th write changes, starting at write `phase`. */
export function rareAmount(length: 8 | 16, every: number, phase: number, salt: number): Field {
  const changed = amount(length, salt)
  return {
    length,
    fill(target, at, record, write) {
      changed.fill(target, at, record, Math.floor((write + every - phase) / every))
    },
  }
}

/** A u128 of 10¹⁷ units. Each write burns about 131,072 of them. */
export const burntSupply: Field = {
  length: 16,
  initial: Uint8Array.of(0, 0, 0, 0, 0, 0, 0x63, 1),
  fill(target, at, record, write) {
    const left = 0x4578_5d8a_0000 - 2 ** 17 * write - (mix(record, write) & 0x3fff)
    target.writeUIntLE(left, at, NUMBER_BYTES)
  },
}

/** A time in microseconds since 1970. */
export function clock(timeOf: (write: number) => number): Field {
  return {
    length: 8,
    fill(target, at, _record, write) {
      // Numbers above 2⁴⁸ are written in two parts.
      const time = timeOf(write)
      target.writeUInt32LE(time % 2 ** 32, at)
      target.writeUInt32LE(Math.floor(time / 2 ** 32), at + 4)
    },
  }
}

/** Most bytes of a number that a `Buffer` writes. The two bytes above stay as they are. */
const NUMBER_BYTES = 6
const DIGITS = '0123456789abcdef'

/** 32 bits that look random, and depend only on the two numbers. */
function mix(one: number, other: number): number {
  let bits = Math.imul(one + 1, 0x9e37_79b1) ^ Math.imul(other + 0x7f4a_7c15, 0x85eb_ca6b)
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0_aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a_2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
