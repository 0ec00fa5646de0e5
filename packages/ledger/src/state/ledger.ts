import type { LedgerSummary } from '@ledger-state/engine'
import type { TypeTag } from '@ledger-state/type-tag'
import type { Asset } from '../assets/asset.js'
import type { CacheUse } from '../caches/cache-use.js'
import type { LedgerState } from './ledger-state.js'

/** Typed reads of a ledger. `at` pins a version; resolved types are kept for later reads. */
export interface Ledger {
  /** Discriminant: reads of an `AsyncLedger` return promises, reads of this ledger are synchronous. */
  readonly kind: 'sync'
  /** The newest ledger; undefined while the store is empty. */
  readonly info: LedgerSummary | undefined
  /**
   * Parses as `parseTypeTag` does, and remembers the result. Reads find the codec of a remembered tag without printing
   * the tag.
   * @throws `invalid_type_tag`
   */
  parseType(text: string): TypeTag
  /**
   * Parses as `parseAsset` does, and remembers the result. Balances of a remembered asset are read without deriving its
   * keys again.
   * @throws `invalid_type_tag`
   */
  parseAsset(text: string): Asset
  /**
   * Pins the ledger at a version, by default the latest.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`; reads throw the last, too, once the pruner has passed
   * the version
   */
  at(version?: bigint): LedgerState
  /**
   * The last version of the newest block at or before a time, in microseconds since 1970. For a time between the newest
   * block and now, the latest version.
   * @throws `no_ledger`; `version_pruned` before the oldest block; `version_not_found` after the newest block and after
   * `nowUsec`, by default the time of the system
   */
  versionAtTime(timestampUsec: bigint, nowUsec?: bigint): bigint
  /** Use of the caches of this ledger, by their names. */
  readonly caches: Readonly<Record<CacheName, CacheUse>>
}

/** Names of caches: of types' codecs, of modules' definitions, and of parsed texts of types and assets. */
export type CacheName = 'types' | 'modules' | 'view_modules' | 'type_texts' | 'asset_texts'
