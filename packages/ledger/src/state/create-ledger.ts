import type { StateReader } from '@ledger-state/engine'
import { SLICE_KEY } from '@ledger-state/records'
import { decodeSliceRecord, SlicedReader } from '@ledger-state/slices'
import { parseTypeTag, type TypeTag, typeTagHeapSize } from '@ledger-state/type-tag'
import { type Asset, assetHeapSize, parseAsset } from '../assets/asset.js'
import { BalanceKeysCache } from '../assets/balance-keys.js'
import { ModuleCache } from '../caches/module-cache.js'
import { ParsedTexts } from '../caches/parsed-texts.js'
import { TransactionBlockCache } from '../caches/transaction-block-cache.js'
import { ViewCaches } from '../caches/view-caches.js'
import { CachedTypeResolver } from '../types/type-resolver.js'
import type { Ledger } from './ledger.js'
import { type LedgerState, pinState, type StateSource } from './ledger-state.js'
import { versionAtTime } from './version-at-time.js'

/** Capacities of the caches of parsed texts, each in bytes of heap. */
const PARSED_TYPES_CAPACITY = 2 << 20
const PARSED_ASSETS_CAPACITY = 2 << 20

/** Caches that a ledger keeps between reads. */
export interface LedgerCaches extends Pick<StateSource, 'modules' | 'balanceKeys' | 'views' | 'transactionBlocks'> {
  readonly types: CachedTypeResolver
  readonly parsedTypes: ParsedTexts<TypeTag>
  readonly parsedAssets: ParsedTexts<Asset>
}

export function createCaches(): LedgerCaches {
  const modules = new ModuleCache()
  return {
    modules,
    types: new CachedTypeResolver(modules),
    balanceKeys: new BalanceKeysCache(),
    views: new ViewCaches(),
    transactionBlocks: new TransactionBlockCache(),
    parsedTypes: new ParsedTexts(PARSED_TYPES_CAPACITY, parseTypeTag, typeTagHeapSize),
    parsedAssets: new ParsedTexts(PARSED_ASSETS_CAPACITY, parseAsset, assetHeapSize),
  }
}

export function cacheUses({ types, modules, views, parsedTypes, parsedAssets }: LedgerCaches): Ledger['caches'] {
  return {
    types: types.use,
    modules: modules.use,
    view_modules: views.use,
    type_texts: parsedTypes.use,
    asset_texts: parsedAssets.use,
  }
}

/**
 * Creates the reads over a versioned store.
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { createLedger, readBalance } from '@ledger-state/ledger'
 * import { createMemoryEngine } from '@ledger-state/engine'
 *
 * const engine = createMemoryEngine()
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4 })
 *
 * const ledger = createLedger(engine)
 * console.log(readBalance(ledger.at(0n), parseAddress('0x1'), ledger.parseAsset('0xa'))) // 0n
 * ```
 */
export function createLedger(state: StateReader): Ledger {
  const caches = createCaches()
  let known: StateSource | undefined
  const source = (): StateSource => {
    if (known) return known
    // A store keeps a slice since its first version, or never.
    if (state.ledger) known = sourceOf(state, state.at().get(SLICE_KEY), caches)
    return known ?? sourceOf(state, undefined, caches)
  }
  return createLedgerOver(state, source, caches)
}

/**
 * The source of states of a store.
 * @param record the store's record of its slice; undefined for a store that keeps everything
 */
export function sourceOf(
  state: StateReader,
  record: Uint8Array | undefined,
  { modules, types, balanceKeys, views, transactionBlocks }: LedgerCaches,
): StateSource {
  const sliced = record && new SlicedReader(state, decodeSliceRecord(record))
  return { reader: sliced ?? state, sliced, modules, types, balanceKeys, views, transactionBlocks, loading: undefined }
}

/**
 * Creates a ledger.
 * @param source returns the source of states: without a slice until the store is known to keep one
 */
export function createLedgerOver(state: StateReader, source: () => StateSource, caches: LedgerCaches): Ledger {
  const { parsedTypes, parsedAssets } = caches
  let last: LedgerState | undefined
  return {
    kind: 'sync',
    get info() {
      return state.ledger
    },
    parseType: (text) => parsedTypes.parse(text),
    parseAsset: (text) => parsedAssets.parse(text),
    at(version) {
      const pinned = pinState(source(), version, last)
      last = pinned
      return pinned
    },
    get caches() {
      return cacheUses(caches)
    },
    versionAtTime: (timestampUsec, nowUsec) => versionAtTime(state, timestampUsec, nowUsec),
  }
}
