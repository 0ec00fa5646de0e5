import type { LedgerInfo } from '@ledger-state/core'
import type { TypeTag } from '@ledger-state/type-tag'
import type { Asset } from './balances/asset.js'
import type { TableItem, TableItemRequest } from './tables/table-item.js'

/** The reads at one version. All of them, and `ledger`, speak of the same state of the ledger. */
export interface LedgerState {
  readonly version: bigint
  readonly ledger: LedgerInfo
  /** @throws `invalid_value` where the key does not fit its type or that cannot be resolved; `table_item_not_found` */
  readTableItem(request: TableItemRequest): TableItem
  /** @throws `table_item_not_found` */
  readRawTableItem(handle: Uint8Array, key: Uint8Array): Uint8Array
  /** @throws `invalid_bcs`, `balance_overflow` */
  readBalance(owner: Uint8Array, asset: Asset): bigint
}

export interface Ledger {
  /** Undefined as long as nothing was ingested. */
  readonly info: LedgerInfo | undefined
  /**
   * As `parseTypeTag`, and remembers what it parsed: reads find the codec of a tag that was given before without
   * printing it.
   * @throws `invalid_type_tag`
   */
  parseType(text: string): TypeTag
  /**
   * As `parseAsset`, and remembers what it parsed: balances of an asset that was given before are read without deriving
   * its keys.
   * @throws `invalid_type_tag`
   */
  parseAsset(text: string): Asset
  /**
   * Pins the ledger at a version, by default the latest.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`; the last also from reads, once the pruner has passed
   */
  at(version?: bigint): LedgerState
}
