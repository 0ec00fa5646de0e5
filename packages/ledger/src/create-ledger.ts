import type { StateReader } from '@ledger-state/engine'
import { SLICE_KEY } from '@ledger-state/records'
import { decodeSliceRecord, SlicedReader } from '@ledger-state/slices'
import { parseTypeTag, type TypeTag, typeTagHeapSize } from '@ledger-state/type-tag'
import { type Asset, assetHeapSize, parseAsset } from './balances/asset.js'
import { BalanceReader } from './balances/balance-reader.js'
import { ParsedTexts } from './caches/parsed-texts.js'
import type { Ledger } from './ledger.js'
import { ModuleCache } from './modules/module-cache.js'
import { PinnedState, type SharedReaders } from './pinned-state.js'
import { versionAtTime } from './times/version-at-time.js'
import { TypeResolver } from './types/type-resolver.js'
import { ViewRunner } from './views/view-runner.js'

/** Capacities of the caches of parsed texts, each in bytes of heap. */
const PARSED_TYPES_CAPACITY = 2 << 20
const PARSED_ASSETS_CAPACITY = 2 << 20

/** Caches that a ledger keeps between reads. */
export interface LedgerCaches extends SharedReaders {
  readonly parsedTypes: ParsedTexts<TypeTag>
  readonly parsedAssets: ParsedTexts<Asset>
}

export function createCaches(modules = new ModuleCache(), types = new TypeResolver(modules)): LedgerCaches {
  return {
    modules,
    types,
    balances: new BalanceReader(),
    views: new ViewRunner(),
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
 * import { createLedger } from '@ledger-state/ledger'
 * import { createMemoryEngine } from '@ledger-state/engine'
 *
 * const engine = createMemoryEngine()
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4 })
 *
 * const ledger = createLedger(engine)
 * console.log(ledger.at(0n).readBalance(parseAddress('0x1'), ledger.parseAsset('0xa'))) // 0n
 * ```
 */
export function createLedger(state: StateReader): Ledger {
  let known: StateReader | undefined
  const reader = (): StateReader => {
    if (known) return known
    // A store keeps a slice from its first version on, or never.
    if (state.ledger) known = readerOfSlice(state, state.at().get(SLICE_KEY))
    return known ?? state
  }
  return createLedgerOver(state, reader, createCaches())
}

/**
 * A reader that obeys the slice of a store.
 * @param record the store's record of its slice; undefined for a store that keeps everything
 */
export function readerOfSlice(state: StateReader, record: Uint8Array | undefined): StateReader {
  return record ? new SlicedReader(state, decodeSliceRecord(record)) : state
}

/**
 * Creates a ledger.
 * @param reader returns the reader of the state: the state itself until the store is known to keep a slice
 */
export function createLedgerOver(state: StateReader, reader: () => StateReader, caches: LedgerCaches): Ledger {
  const { parsedTypes, parsedAssets } = caches
  let last: PinnedState | undefined
  return {
    kind: 'sync',
    get info() {
      return state.ledger
    },
    parseType: (text) => parsedTypes.parse(text),
    parseAsset: (text) => parsedAssets.parse(text),
    at(version) {
      const from = reader()
      const view = from.at(version)
      // A store may return the same view of its newest version to all callers.
      if (last?.view !== view) last = new PinnedState(from, view, caches)
      return last
    },
    get caches() {
      return cacheUses(caches)
    },
    versionAtTime: (timestampUsec, nowUsec) => versionAtTime(state, timestampUsec, nowUsec),
  }
}
