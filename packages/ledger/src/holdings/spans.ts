import { bytesToHexDigits, U64_MAX } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import {
  isSkipped,
  nearestWrite,
  type ScanStep,
  type StateReader,
  type StateView,
  scanInSteps,
} from '@ledger-state/engine'
import {
  coinOfRow,
  coinStoreKey,
  endedIn,
  endedKey,
  holdingsKey,
  holdingsPrefix,
  objectKey,
  readCoinStore,
  readHeldObject,
  storeNameToBytes,
} from '@ledger-state/records'
import { type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import type { Asset } from '../assets/asset.js'
import type { HeldAsset } from './holding.js'
import { isRow, type RowStep, scanRows } from './row-listing.js'

/** A time in which an account held an asset in one store. */
export interface Span {
  readonly asset: HeldAsset
  /** Address of the fungible store; of a coin store, its account. */
  readonly storage: Uint8Array
  /** Sorts the changes of one version: coin stores first, then by address, then by type. */
  readonly rank: string
  /** State key of the store. */
  readonly key: Uint8Array
  /** First and last version at which the amount may change because of the account. */
  readonly first: bigint
  readonly last: bigint
  /** The account's amount in the store after a write. */
  amountIn(value: Uint8Array | null): bigint
}

/** Which spans of an account are searched for. */
export interface SpanSearch {
  readonly owner: Uint8Array
  /** The only asset; all of them if it is undefined. */
  readonly asset: Asset | undefined
  /** First version of the range that the spans overlap; the version of the view is the last. */
  readonly first: bigint
  /** Names of the only fungible stores; all of them if it is undefined. */
  readonly names: readonly number[] | undefined
}

/**
 * The spans of an account that overlap a range that ends with the version of a view. Yields undefined after work
 * without a result.
 */
export function* findSpans(
  reader: StateReader,
  view: StateView,
  { owner, asset, first, names }: SpanSearch,
): Generator<Span | undefined> {
  if (asset?.kind === 'coin') {
    yield coinSpan(owner, asset.coin, 0n, U64_MAX)
    return
  }
  if (!asset) yield* findCoinSpans(reader, view, owner, first)
  const isAsked = (metadata: Uint8Array): boolean => !asset || compareBytes(metadata, asset.metadata) === 0
  for (const row of ownedStores(view, owner, names)) {
    if (!isRow(row)) {
      yield undefined
      continue
    }
    const { second, value, version } = row
    yield isAsked(value) ? storeSpan(owner, second, value, version, U64_MAX) : undefined
  }
  for (const step of scanEnded(view, 'endedStore', owner, first)) {
    if (isSkipped(step)) {
      yield undefined
      continue
    }
    const { key, value } = step
    const { version, second } = endedIn(key)
    const row = holdingsKey('ownedStore', owner, second)
    yield isAsked(value) ? storeSpan(owner, second, value, startOf(reader, row, version), version) : undefined
  }
}

function* findCoinSpans(
  reader: StateReader,
  view: StateView,
  owner: Uint8Array,
  first: bigint,
): Generator<Span | undefined> {
  for (const row of scanRows(view, 'ownedCoin', owner, undefined)) {
    if (!isRow(row)) {
      yield undefined
      continue
    }
    const { second, value, version } = row
    yield coinSpan(owner, coinOfRow(second, value), version, U64_MAX)
  }
  for (const step of scanEnded(view, 'endedCoin', owner, first)) {
    if (isSkipped(step)) {
      yield undefined
      continue
    }
    const { key, value } = step
    const { version, second } = endedIn(key)
    const row = holdingsKey('ownedCoin', owner, second)
    yield coinSpan(owner, coinOfRow(second, value), startOf(reader, row, version), version)
  }
}

function* ownedStores(view: StateView, owner: Uint8Array, names: readonly number[] | undefined): Generator<RowStep> {
  if (names) for (const name of names) yield* scanRows(view, 'ownedStore', owner, undefined, storeNameToBytes(name))
  else yield* scanRows(view, 'ownedStore', owner, undefined)
}

/** The rows of spans that ended at versions from `first` to that of a view. Later ones lie behind them. */
function* scanEnded(
  view: StateView,
  family: 'endedStore' | 'endedCoin',
  owner: Uint8Array,
  first: bigint,
): Generator<ScanStep> {
  const start = endedKey(family, owner, first, new Uint8Array(0))
  for (const step of scanInSteps(view, holdingsPrefix(family, owner), { start })) {
    if (isSkipped(step) && endedIn(step.key).version > view.version) return
    yield step
  }
}

/** The versions from `first` to that of a view at which an owner lost a fungible store, in order, once for each store. */
export function* endedStores(view: StateView, owner: Uint8Array, first: bigint): Generator<bigint> {
  for (const step of scanEnded(view, 'endedStore', owner, first)) if (!isSkipped(step)) yield endedIn(step.key).version
}

/** Version with which a span began that ended at a version: the last write of its row before. */
function startOf(reader: StateReader, row: Uint8Array, end: bigint): bigint {
  return (end > 0n ? nearestWrite(reader, row, { until: end - 1n }) : undefined) ?? 0n
}

function coinSpan(account: Uint8Array, coin: TypeTag, first: bigint, last: bigint): Span {
  // Most spans of a long list are never compared with another one of the same version.
  let rank: string | undefined
  return {
    asset: { standard: 'v1', coin },
    storage: account,
    get rank() {
      rank ??= `0 ${typeTagToText(coin)}`
      return rank
    },
    key: coinStoreKey(account, coin),
    first,
    last,
    amountIn: (value) => (value && readCoinStore(value)?.amount) || 0n,
  }
}

function storeSpan(owner: Uint8Array, storage: Uint8Array, metadata: Uint8Array, first: bigint, last: bigint): Span {
  let rank: string | undefined
  return {
    asset: { standard: 'v2', metadata },
    storage,
    get rank() {
      rank ??= `1 ${bytesToHexDigits(storage)} ${bytesToHexDigits(metadata)}`
      return rank
    },
    key: objectKey(storage),
    first,
    last,
    amountIn(value) {
      const object = value ? readHeldObject(value) : undefined
      if (!object?.store || compareBytes(object.owner, owner) !== 0) return 0n
      return compareBytes(object.store.asset, metadata) === 0 ? object.store.amount : 0n
    },
  }
}
