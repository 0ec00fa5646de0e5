import type { StateView } from '@ledger-state/engine'
import {
  decodeSliceDefinition,
  decodeSliceLeftOut,
  encodeSliceDefinition,
  type MemberKind,
  type MemberRecord,
  SLICE_LEFT_OUT_KEY,
  type SliceDefinition,
  type SliceLeftOut,
} from '@ledger-state/records'
import { type SliceSpec, sliceDigest } from './slice-spec.js'
import { parseTypePattern, type TypePattern, typePatternToText } from './type-pattern.js'

/** A store's definition of its slice, with the patterns of its types. */
export interface SliceRecord extends Omit<SliceDefinition, 'types'> {
  readonly types: readonly TypePattern[]
}

/** An account, object or table that a slice keeps. */
export interface SliceMember extends Pick<MemberRecord, 'reason' | 'since' | 'isWhole'> {
  readonly kind: MemberKind
  /** Address or handle of 32 bytes. */
  readonly id: Uint8Array
}

/** Encodes a specification as the value under `SLICE_KEY`; `decodeSliceRecord` reads it. */
export function encodeSliceRecord(spec: SliceSpec): Uint8Array {
  return encodeSliceDefinition({
    digest: sliceDigest(spec),
    accounts: spec.accounts.length,
    tables: spec.tables.length,
    types: spec.types.map(typePatternToText),
  })
}

/**
 * Reads the value under `SLICE_KEY`.
 * @throws `invalid_bcs`
 */
export function decodeSliceRecord(bytes: Uint8Array): SliceRecord {
  const { types, ...definition } = decodeSliceDefinition(bytes)
  return { ...definition, types: types.map(parseTypePattern) }
}

/** A store's counts of the data that its slice leaves out; undefined if it keeps everything, or did not count. */
export function readLeftOut(view: StateView): SliceLeftOut | undefined {
  const value = view.get(SLICE_LEFT_OUT_KEY)
  return value && decodeSliceLeftOut(value)
}
