import type { StoreBase } from '@ledger-state/engine'
import type { LedgerState } from './ledger-state.js'

/**
 * The state that a store began with: that of the genesis, the whole state at a version, or an empty state that was only
 * assumed, so that earlier writes are unknown.
 */
export type BaseKind = 'genesis' | 'state' | 'assumed_empty'

/** The kind of the state that a store began with. */
export function baseKindOf({ version, complete }: StoreBase): BaseKind {
  if (version === 0n) return 'genesis'
  return complete ? 'state' : 'assumed_empty'
}

/** The version and the kind of the state that the store began with. */
export function storeBaseOf({ source }: LedgerState): { readonly version: bigint; readonly kind: BaseKind } {
  // A store with a version has a base.
  const base = source.reader.base!
  return { version: base.version, kind: baseKindOf(base) }
}
