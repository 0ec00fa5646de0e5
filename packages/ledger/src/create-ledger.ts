import { SLICE_KEY } from '@ledger-state/core'
import type { StateReader } from '@ledger-state/engine'
import { parseTypeTag, type TypeTag } from '@ledger-state/type-tag'
import { type Asset, assetHeapSize, parseAsset } from './balances/asset.js'
import { BalanceReader } from './balances/balance-reader.js'
import { ParsedTexts } from './caches/parsed-texts.js'
import { typeTagHeapSize } from './caches/type-tag-heap-size.js'
import type { Ledger } from './ledger.js'
import { ModuleCache } from './modules/module-cache.js'
import { PinnedState, type SharedReaders } from './pinned-state.js'
import { decodeSliceRecord } from './slices/slice-records.js'
import { SlicedReader } from './slices/sliced-reader.js'
import { versionAtTime } from './times/version-at-time.js'
import { TypeResolver } from './types/type-resolver.js'
import { ViewRunner } from './views/view-runner.js'

/** Bytes of heap, each. */
const PARSED_TYPES_CAPACITY = 2 << 20
const PARSED_ASSETS_CAPACITY = 2 << 20

/** What a ledger keeps between reads. */
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
 * The reads over a versioned store.
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

/** @param record what the store says of its slice; undefined of a store that keeps everything */
export function readerOfSlice(state: StateReader, record: Uint8Array | undefined): StateReader {
  return record ? new SlicedReader(state, decodeSliceRecord(record)) : state
}

/** @param reader gives the reader of the state, once there is one */
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
      // A store may hand out one view of its newest version to all.
      if (last?.view !== view) last = new PinnedState(from, view, caches)
      return last
    },
    get caches() {
      return cacheUses(caches)
    },
    versionAtTime: (timestampUsec, nowUsec) => versionAtTime(state, timestampUsec, nowUsec),
  }
}
