import type { KeyedEntry, VersionWrites } from '@ledger-state/core'
import type { AsyncSnapshot, Block, LedgerSummary } from '@ledger-state/engine'
import { type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import { openDatabaseReader } from './open-database.js'
import type { StorePlace } from './store-place.js'

/** Reads of a store for an export. */
export interface ExportSource {
  readonly ledger: LedgerSummary | undefined
  /** Whether the base is complete: see `StoreBase`. */
  readonly isComplete: boolean
  /** Mark of the newest commit. */
  readonly mark: Uint8Array | undefined
  /** Number of keys at all kept versions; undefined if the store does not count them. */
  readonly keys: number | undefined
  blockAt(version: bigint): Promise<Block>
  /** The state at a version, in the order of the keys. */
  entries(version: bigint): Iterable<KeyedEntry> | AsyncIterable<KeyedEntry>
  versions(first: bigint, last: bigint): Iterable<VersionWrites> | AsyncIterable<VersionWrites>
  close(): Promise<void>
}

export async function openExportSource(place: StorePlace): Promise<ExportSource> {
  if (place.kind === 'folder') return sourceOfEngine(openStateEngineReader({ path: place.dataDir, verifyReads: true }))
  const engine = await openDatabaseReader(place)
  return sourceOfSnapshot(await engine.snapshot(), () => engine.close())
}

function sourceOfEngine(engine: LmdbEngineReader): ExportSource {
  return {
    ledger: engine.ledger,
    isComplete: engine.base?.complete === true,
    mark: engine.mark,
    get keys() {
      return engine.stats.keys
    },
    blockAt: async (version) => engine.blockAt(version),
    entries: (version) => engine.at(version).scan(new Uint8Array(0)),
    versions: (first, last) => engine.versions(first, last),
    close: () => engine.close(),
  }
}

function sourceOfSnapshot(snapshot: AsyncSnapshot, close: () => Promise<void>): ExportSource {
  return {
    ledger: snapshot.ledger,
    isComplete: snapshot.base?.complete === true,
    mark: snapshot.mark,
    keys: undefined,
    blockAt: (version) => snapshot.blockAt(version),
    async *entries(version) {
      const view = snapshot.at(version)
      for (let start: Uint8Array | undefined = new Uint8Array(0); start !== undefined; ) {
        const page = await view.scan(new Uint8Array(0), { start })
        yield* page.entries
        start = page.next
      }
    },
    async *versions(first, last) {
      for (let start: bigint | undefined = first; start !== undefined; ) {
        const page = await snapshot.versions(start, last)
        yield* page.versions
        start = page.next
      }
    },
    close,
  }
}
