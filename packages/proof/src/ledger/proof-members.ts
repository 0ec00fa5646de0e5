import { hexToBytes, isU64, quote } from '@ledger-state/core'
import { badProofMember } from '../errors.js'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'

/** The greatest place in a list: a u32. */
const MOST_INDEX = 0xffff_ffff

// Parsers of the members of a proof in JSON. Each throws `invalid_proof` with the name of the member.

/** The members of an object that has only known ones, because nothing would prove others. */
export function membersOf(value: unknown, what: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badProofMember(what, 'an object')
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined) throw badProofMember(quote(unknown), `a member of ${what}`)
  return value as Readonly<Record<string, unknown>>
}

export function bytesOf(value: unknown, name: string): Uint8Array {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2})*$/.test(value)) throw badProofMember(name, 'hex with 0x')
  return hexToBytes(value)
}

export function hashOf(value: unknown, name: string): Uint8Array {
  const bytes = bytesOf(value, name)
  if (bytes.length !== HASH_LENGTH) throw badProofMember(name, `${HASH_LENGTH} bytes`)
  return bytes
}

export function listOf(
  value: unknown,
  name: string,
  read: (element: unknown, name: string) => Uint8Array,
): readonly Uint8Array[] {
  if (!Array.isArray(value)) throw badProofMember(name, 'a list')
  return value.map((element) => read(element, name))
}

export function versionOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^(0|[1-9]\d{0,19})$/.test(value) || !isU64(BigInt(value))) {
    throw badProofMember('version', 'a version')
  }
  return BigInt(value)
}

export function indexOf(value: unknown, name: string): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > MOST_INDEX) {
    throw badProofMember(name, 'a place in a list')
  }
  return value as number
}
