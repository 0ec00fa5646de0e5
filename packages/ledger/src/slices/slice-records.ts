import { ByteReader, ByteWriter } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import { MAX_KEY_LENGTH } from '@ledger-state/engine'
import {
  SLICE_ACCOUNT_PREFIX,
  SLICE_DELETION_PREFIX,
  SLICE_TABLE_PREFIX,
  SLICE_TYPE_PREFIX,
} from '@ledger-state/records'
import { type SliceSpec, sliceDigest } from './slice-spec.js'
import { parseTypePattern, type TypePattern, typePatternToText } from './type-pattern.js'

// Records that a store writes about its slice, under its own keys:
//   slice:  u8 1 | digest of the specification, 32 bytes | u32 accounts | u32 tables | count of types and the text of each
//   member: u8 reason | u8 1 if it is known whole | u64 version | u32 number of its type, for tables that have one
//   type:   text of the pattern
//   deletion: nothing; the key and the version say it (see `canNoteDeletion`)

/** The store's record of its slice. */
export interface SliceRecord {
  /** Digest of the specification: see `sliceDigest`. */
  readonly digest: Uint8Array
  /** Number of accounts that were asked for. */
  readonly accounts: number
  /** Number of tables that were asked for. */
  readonly tables: number
  readonly types: readonly TypePattern[]
}

/**
 * Reasons for keeping a member: it was asked for, its owner is kept, its handle is in a kept value, or it has a
 * resource of a kept type.
 */
export const MEMBER_REASONS = ['asked', 'owner', 'handle', 'type'] as const
/** A reason of `MEMBER_REASONS`. */
export type MemberReason = (typeof MEMBER_REASONS)[number]

/** Kind of a member: `account` is an account or an object. */
export type MemberKind = 'account' | 'table'

/** The store's record of an account, object or table that it keeps. */
export interface MemberRecord {
  readonly reason: MemberReason
  /**
   * Whether the slice has kept all that the member had when it joined. For other members, a key is known from its first
   * kept write on.
   */
  readonly isWhole: boolean
  /** First version whose writes are kept. */
  readonly since: bigint
  /** Number of the type of a table's values, under which the store keeps the type. */
  readonly valueType: number | undefined
}

/** An account, object or table that a slice keeps. */
export interface SliceMember extends Pick<MemberRecord, 'reason' | 'since' | 'isWhole'> {
  readonly kind: MemberKind
  /** Address or handle of 32 bytes. */
  readonly id: Uint8Array
}

const LAYOUT = 1

/** Encodes a specification as the value under `SLICE_KEY`; `decodeSliceRecord` reads it. */
export function encodeSliceRecord(spec: SliceSpec): Uint8Array {
  const writer = new ByteWriter().u8(LAYOUT).bytes(sliceDigest(spec))
  writer.u32(spec.accounts.length).u32(spec.tables.length).uleb128(spec.types.length)
  for (const type of spec.types) writer.string(typePatternToText(type))
  return writer.toBytes()
}

/**
 * Reads the value under `SLICE_KEY`.
 * @throws `invalid_bcs`
 */
export function decodeSliceRecord(bytes: Uint8Array): SliceRecord {
  const reader = new ByteReader(bytes)
  const layout = reader.readU8()
  if (layout !== LAYOUT) throw reader.fault(`unknown layout ${layout} of a slice`, 0)
  const digest = Uint8Array.from(reader.readBytes(32))
  const [accounts, tables] = [reader.readU32(), reader.readU32()]
  const types = Array.from({ length: reader.readLength() }, () =>
    parseTypePattern(decodeUtf8(reader.readByteString()) ?? ''),
  )
  return { digest, accounts, tables, types }
}

export function encodeMember({ reason, isWhole, since, valueType }: MemberRecord): Uint8Array {
  const writer = new ByteWriter().u8(MEMBER_REASONS.indexOf(reason)).bool(isWhole).u64(since)
  if (valueType !== undefined) writer.u32(valueType)
  return writer.toBytes()
}

/**
 * Reads the value under a `memberKey`.
 * @throws `invalid_bcs`
 */
export function decodeMember(bytes: Uint8Array): MemberRecord {
  const reader = new ByteReader(bytes)
  const reason = MEMBER_REASONS[reader.readU8()]
  if (!reason) throw reader.fault('unknown reason of a member', 0)
  const [isWhole, since] = [reader.readBool(), reader.readU64()]
  return { reason, isWhole, since, valueType: reader.remaining > 0 ? reader.readU32() : undefined }
}

/** Key of the store's record of an account or table. */
export function memberKey(kind: MemberKind, id: Uint8Array): Uint8Array {
  const prefix = kind === 'account' ? SLICE_ACCOUNT_PREFIX : SLICE_TABLE_PREFIX
  const key = new Uint8Array(prefix.length + id.length)
  key.set(prefix)
  key.set(id, prefix.length)
  return key
}

export function sliceTypeKey(number: number): Uint8Array {
  const key = new Uint8Array(SLICE_TYPE_PREFIX.length + 4)
  key.set(SLICE_TYPE_PREFIX)
  new DataView(key.buffer).setUint32(SLICE_TYPE_PREFIX.length, number)
  return key
}

/**
 * Whether a slice can note that a version deletes a key. The key of the note is 2 bytes longer, and must not be too
 * long for a store.
 */
export function canNoteDeletion(key: Uint8Array): boolean {
  return SLICE_DELETION_PREFIX.length + key.length <= MAX_KEY_LENGTH
}

/** Key of the note that a version deletes a key; undefined if the key is too long to be noted. */
export function sliceDeletionKey(key: Uint8Array): Uint8Array | undefined {
  if (!canNoteDeletion(key)) return undefined
  const noted = new Uint8Array(SLICE_DELETION_PREFIX.length + key.length)
  noted.set(SLICE_DELETION_PREFIX)
  noted.set(key, SLICE_DELETION_PREFIX.length)
  return noted
}
