import { ByteReader, ByteWriter } from '@ledger-state/core'
import { readVarint, writeVarint } from './varint.js'

/** A version of a group, and the number that the index has for it. */
export interface GroupedVersion {
  readonly version: bigint
  /** 0 in families without numbers. */
  readonly number: bigint
}

// Ascending versions of one group under a key that the first version of the group writes:
//   n × uleb128 version less the one before, at first the first of the group · in families with numbers, uleb128 number
//   less the one before, at first 0, modulo 2^64
// Empty if that is a single 0.

/**
 * Encodes the versions of a group.
 * @param writer is reset; a group has hundreds of keys, and a writer for each of them costs more than its bytes
 */
export function encodeGroupedVersions(
  first: bigint,
  versions: readonly GroupedVersion[],
  hasNumbers: boolean,
  writer = new ByteWriter(),
): Uint8Array {
  if (!hasNumbers && versions.length === 1 && versions[0]!.version === first) return new Uint8Array(0)
  writer.reset()
  let before: GroupedVersion = { version: first, number: 0n }
  for (const one of versions) {
    writer.uleb128(Number(one.version - before.version))
    if (hasNumbers) writeVarint(writer, BigInt.asUintN(64, one.number - before.number))
    before = one
  }
  return writer.toBytes()
}

/** Decodes the versions of a group. @throws `invalid_bcs` */
export function decodeGroupedVersions(first: bigint, bytes: Uint8Array, hasNumbers: boolean): GroupedVersion[] {
  if (bytes.length === 0) return [{ version: first, number: 0n }]
  const reader = new ByteReader(bytes)
  const versions: GroupedVersion[] = []
  let before: GroupedVersion = { version: first, number: 0n }
  while (reader.remaining > 0) {
    const version = before.version + BigInt(reader.readUleb128())
    const number = hasNumbers ? BigInt.asUintN(64, before.number + readVarint(reader)) : 0n
    before = { version, number }
    versions.push(before)
  }
  return versions
}
