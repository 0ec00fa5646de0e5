import { ByteReader } from '@ledger-state/core'
import { readStateKey, readValueMetadata, type ValueMetadata } from '@ledger-state/type-tag'

export interface StateRecord {
  /** Key in its database form. */
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly metadata: ValueMetadata | undefined
  /** BCS of the state value with its metadata; these bytes are hashed. */
  readonly stateValue: Uint8Array
}

/**
 * A record of a state snapshot: StateKey, then StateValue (tag 0: bytes; tag 1: bytes and metadata).
 * See docs/ledger-formats.md, "State snapshot".
 * @throws `invalid_bcs`
 */
export function readStateRecord(bytes: Uint8Array): StateRecord {
  const reader = new ByteReader(bytes)
  const key = readStateKey(reader)
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag > 1) throw reader.fault(`unknown variant ${tag} of state value`, start)
  const value = reader.readByteString()
  const metadata = tag === 1 ? readValueMetadata(reader) : undefined
  reader.expectEnd()
  return { key, value, metadata, stateValue: bytes.subarray(start) }
}
