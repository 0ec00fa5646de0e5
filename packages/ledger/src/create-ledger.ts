import type { StateReader } from '@ledger-state/core'
import { parseTypeTag } from '@ledger-state/type-tag'
import { assetHeapSize, parseAsset } from './balances/asset.js'
import { BalanceReader } from './balances/balance-reader.js'
import { ParsedTexts } from './caches/parsed-texts.js'
import { typeTagHeapSize } from './caches/type-tag-heap-size.js'
import type { Ledger } from './ledger.js'
import { ModuleCache } from './modules/module-cache.js'
import { PinnedState, type SharedReaders } from './pinned-state.js'
import { versionAtTime } from './times/version-at-time.js'
import { TypeResolver } from './types/type-resolver.js'

/** Bytes of heap, each. */
const PARSED_TYPES_CAPACITY = 2 << 20
const PARSED_ASSETS_CAPACITY = 2 << 20

/**
 * The reads over a versioned store.
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { createLedger } from '@ledger-state/ledger'
 * import { createMemoryEngine } from '@ledger-state/state-engine'
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
  const modules = new ModuleCache()
  const readers: SharedReaders = { modules, types: new TypeResolver(modules), balances: new BalanceReader() }
  const types = new ParsedTexts(PARSED_TYPES_CAPACITY, parseTypeTag, typeTagHeapSize)
  const assets = new ParsedTexts(PARSED_ASSETS_CAPACITY, parseAsset, assetHeapSize)
  let last: PinnedState | undefined
  return {
    get info() {
      return state.ledger
    },
    parseType: (text) => types.parse(text),
    parseAsset: (text) => assets.parse(text),
    at(version) {
      const view = state.at(version)
      // A store may hand out one view of its newest version to all.
      if (last?.view !== view) last = new PinnedState(state, view, readers)
      return last
    },
    get caches() {
      return { types: readers.types.use, modules: modules.use, type_texts: types.use, asset_texts: assets.use }
    },
    versionAtTime: (timestampUsec, nowUsec) => versionAtTime(state, timestampUsec, nowUsec),
  }
}
