import { ByteReader, ByteWriter } from '@ledger-state/core'
import { readVarint, writeVarint } from './varint.js'

/** A version of a group, and the number that the index has for it. */
export interface GroupedVersion {
  readonly version: bigint
  /** 0 in families without numbers. */
  readonly number: bigint
}

/** The versions of a group under one key. */
export interface GroupedVersions {
  /** First version of the group. */
  readonly group: bigint
  /** In ascending order. */
  readonly versions: readonly GroupedVersion[]
}

// Ascending versions of one group under a key that the first version of the group writes:
//   varint first version of the group · n × uleb128 version less the one before, at first the first of the group · in
//   families with numbers, varint number less the one before, at first 0, modulo 2^64
// A state that begins a store has rows of a group that began before it, so a row says which group it is of.

/**
 * The versions of a group as they are collected, in ascending order. They are arrays of numbers: an object for each
 * version took 4 % of the CPU time of an ingest.
 */
export interface CollectedVersions {
  /** Versions less the first of the group. */
  readonly offsets: readonly number[]
  /** Undefined in families without numbers. */
  readonly numbers?: readonly bigint[] | undefined
}

/**
 * Encodes the versions of the group that begins with a version.
 * @param writer is reset; a group has hundreds of keys, and a writer for each of them costs more than its bytes
 */
export function encodeGroupedVersions(
  group: bigint,
  { offsets, numbers }: CollectedVersions,
  writer = new ByteWriter(),
): Uint8Array {
  writer.reset()
  writeVarint(writer, group)
  let before = 0
  let numberBefore = 0n
  for (let at = 0; at < offsets.length; at++) {
    writer.uleb128(offsets[at]! - before)
    before = offsets[at]!
    if (!numbers) continue
    writeVarint(writer, BigInt.asUintN(64, numbers[at]! - numberBefore))
    numberBefore = numbers[at]!
  }
  return writer.toBytes()
}

/** Decodes the versions of a group. @throws `invalid_bcs` */
export function decodeGroupedVersions(bytes: Uint8Array, hasNumbers: boolean): GroupedVersions {
  const reader = new ByteReader(bytes)
  const group = readVarint(reader)
  const versions: GroupedVersion[] = []
  let before: GroupedVersion = { version: group, number: 0n }
  while (reader.remaining > 0) {
    const version = before.version + BigInt(reader.readUleb128())
    const number = hasNumbers ? BigInt.asUintN(64, before.number + readVarint(reader)) : 0n
    before = { version, number }
    versions.push(before)
  }
  return { group, versions }
}
