import { ByteReader, isLedgerStateError, parseAddress } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'

/** Flag of the feature with which accounts need no stored `Account`. */
export const DEFAULT_ACCOUNT_RESOURCE = 91

const FEATURES_KEY = resourceKey(parseAddress('0x1'), parseStructTag('0x1::features::Features'))

/**
 * Whether the chain has a feature switched on at the version of the view. If its list of features is not readable, all
 * are off.
 */
export function isFeatureOn(view: StateView, feature: number): boolean {
  const stored = view.get(FEATURES_KEY)
  if (!stored) return false
  try {
    const bits = new ByteReader(stored).readByteString()
    return ((bits[feature >> 3] ?? 0) & (1 << (feature & 7))) !== 0
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return false
    throw error
  }
}
