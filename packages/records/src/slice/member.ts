import { ByteReader, ByteWriter } from '@ledger-state/core'

// A member of a slice: u8 reason | u8 1 if it is known whole | u64 version | u32 number of its type, for tables that have one

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
   * Whether the slice has the whole state of the member at the version at which it joined. For other members, a key is
   * known only since its first kept write.
   */
  readonly isWhole: boolean
  /** First version whose writes are kept. */
  readonly since: bigint
  /** Number of the type of a table's values, under which the store keeps the type. */
  readonly valueType: number | undefined
}

/** Writes the record of a member. */
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
