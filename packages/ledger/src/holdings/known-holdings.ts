import { branchOf, type StateReader, versionPruned, versionTruncated } from '@ledger-state/engine'
import { HOLDINGS_KEY } from '@ledger-state/records'
import { parseStructTag } from '@ledger-state/type-tag'
import type { Asset } from '../assets/asset.js'
import { holdingsNotIndexed } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'

// Checks whether a store can answer questions about holdings. The index of a slice covers only the kept data, so a
// question is answered only if the slice keeps everything that the answer may contain.

const FUNGIBLE_STORE = parseStructTag('0x1::fungible_asset::FungibleStore')
const TOKEN = parseStructTag('0x4::token::Token')
const COIN_STORE = parseStructTag('0x1::coin::CoinStore')

/** Checks that the store knows all that an account holds. @throws `holdings_not_indexed`, `version_pruned` */
export function expectOwnerKnown(state: LedgerState, owner: Uint8Array): void {
  expectIndex(state)
  state.source.sliced?.expectWholeAccount(owner, state.version)
}

/** Checks that the store knows all holders of an asset. @throws `holdings_not_indexed`, `version_pruned` */
export function expectHoldersKnown(state: LedgerState, asset: Asset): void {
  expectIndex(state)
  const type = asset.kind === 'coin' ? { ...COIN_STORE, typeArguments: [asset.coin] } : FUNGIBLE_STORE
  state.source.sliced?.expectTypeKept(type, state.version)
}

/** Checks that the store knows all tokens of collections. @throws `holdings_not_indexed`, `version_pruned` */
export function expectTokensKnown(state: LedgerState): void {
  expectIndex(state)
  state.source.sliced?.expectTypeKept(TOKEN, state.version)
}

function expectIndex({ storedView, version }: LedgerState): void {
  if (storedView.peek(HOLDINGS_KEY) === undefined) throw holdingsNotIndexed(version)
}

/** The reader of the store without the rules of its slice, for reads that a check above has allowed. */
export function storedReader({ source }: LedgerState): StateReader {
  return source.sliced?.inner ?? source.reader
}

/** First version with known changes: changes of the oldest version are mixed with earlier ones, except at genesis. */
export function firstKnownChange({ ledger, source }: LedgerState): bigint {
  const { oldestVersion } = ledger
  const { base } = source.reader
  return oldestVersion === 0n && base?.version === 0n && base.complete ? 0n : oldestVersion + 1n
}

/**
 * Checks that since a state was pinned no prune has reached a version, because changes up to it may be gone, and that
 * no truncation has cut the state off.
 * @throws `version_pruned`, `version_truncated`
 */
export function expectChangesKept(
  reader: StateReader,
  { ledger, version: pinned }: LedgerState,
  version: bigint,
): void {
  const { oldestVersion, truncations = [] } = reader.ledger!
  if (oldestVersion > ledger.oldestVersion && version <= oldestVersion) throw versionPruned(version, oldestVersion)
  const branch = branchOf(ledger)
  if (truncations.some((cut) => cut.number > branch && cut.version < pinned)) throw versionTruncated(pinned)
}
