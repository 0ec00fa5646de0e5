import { Buffer } from 'node:buffer'
import { tmpdir } from 'node:os'
import { bytesToHexDigits, type KeyedEntry, STATE_ROOT_KEY } from '@ledger-state/core'
import {
  type AsyncStateReader,
  type AsyncStateView,
  type LedgerInfo,
  type StateEngineReader,
  type StateView,
  versionNotFound,
  versionPruned,
} from '@ledger-state/engine'
import { computeStateRoot } from '@ledger-state/feed'
import { decodeCommitMark, readSliceStatus } from '@ledger-state/ingest'
import { emptyStore, otherStateRoot, sliceHasNoRoot, stateRootUnknown } from '../errors.js'
import { formatCount } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { nameOfPlace, type StorePlace } from './store-place.js'

const PAGE = 1_000
const ALL_KEYS = new Uint8Array(0)

export interface AuditOptions {
  /** The newest version to audit; the newest of the store by default. */
  readonly version?: bigint | undefined
  readonly hashSalt?: string | undefined
  /** Threads that hash, as `computeStateRoot` takes them. */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A root that the ledger has at a version. */
interface HeldRoot {
  readonly version: bigint
  readonly root: Uint8Array
}

/** What an audit reads of an engine, whether its reads are promises or not. */
interface AuditedStore {
  readonly ledger: LedgerInfo | undefined
  readonly mark: Uint8Array | undefined
  /** The newest root that was written up to a version. */
  newestRoot(last: bigint): Promise<HeldRoot | undefined>
  /** All entries of a version. */
  pages(version: bigint): AsyncIterable<readonly KeyedEntry[]>
}

/**
 * Computes the root of the newest audited state of a store and compares it with the one that the ledger has there. Says on
 * standard error how far it is.
 * @returns one line for people
 * @throws `no_ledger`; `state_root_unknown` where the store keeps no root, or a slice, `state_root_differs`; `version_pruned`
 *   where the version is pruned meanwhile
 */
export async function auditStateRoot(
  engine: StateEngineReader | AsyncStateReader,
  place: StorePlace,
  { version, hashSalt, threads, signal }: AuditOptions,
): Promise<string> {
  if (await readSliceStatus(engine)) throw sliceHasNoRoot()
  const store = engine.kind === 'sync' ? auditedEngine(engine) : await auditedSnapshot(engine)
  const name = nameOfPlace(place)
  const { ledger } = store
  if (!ledger) throw emptyStore(name)
  const last = version ?? ledger.latestVersion
  if (last > ledger.latestVersion) throw versionNotFound(last)
  if (last < ledger.oldestVersion) throw versionPruned(last, ledger.oldestVersion)
  const held = await store.newestRoot(last)
  if (!held || held.version < ledger.oldestVersion) throw stateRootUnknown(name, ledger.oldestVersion, last)
  const line = createProgressLine(process.stderr)
  const onProgress = (keys: number) =>
    line.update((seconds) => {
      return `auditing version ${held.version}: ${formatCount(keys)} keys, ${formatCount(Math.round(keys / seconds))} keys/s`
    })
  try {
    const spillFolder = 'dataDir' in place ? place.dataDir : tmpdir()
    const { root } = await computeStateRoot(store.pages(held.version), {
      spillFolder,
      hashSalt,
      threads,
      signal,
      onProgress,
    })
    if (Buffer.compare(root, held.root) !== 0) throw otherStateRoot(name, held.version, held.root, root)
  } finally {
    line.finish()
  }
  const { signed } = decodeCommitMark(store.mark)
  const by = signed && signed.version >= held.version ? `signed by epoch ${signed.epoch}` : 'not signed'
  return `state root of version ${held.version}: ${bytesToHexDigits(held.root)}, as the ledger says (${by})`
}

function auditedEngine(engine: StateEngineReader): AuditedStore {
  return {
    ledger: engine.ledger,
    mark: engine.mark,
    newestRoot: async (last) => {
      for (const { version, value } of engine.history(STATE_ROOT_KEY, { last })) {
        return value ? { version, root: value } : undefined
      }
      return undefined
    },
    pages: (version) => pagesOfView(engine.at(version)),
  }
}

async function* pagesOfView(view: StateView): AsyncGenerator<readonly KeyedEntry[]> {
  let page: KeyedEntry[] = []
  for (const entry of view.scan(ALL_KEYS)) {
    if (page.push(entry) < PAGE) continue
    yield page
    page = []
  }
  yield page
}

async function auditedSnapshot(engine: AsyncStateReader): Promise<AuditedStore> {
  const snapshot = await engine.snapshot()
  return {
    ledger: snapshot.ledger,
    mark: snapshot.mark,
    newestRoot: async (last) => {
      const { revisions } = await snapshot.history(STATE_ROOT_KEY, { last, limit: 1 })
      const [newest] = revisions
      return newest?.value ? { version: newest.version, root: newest.value } : undefined
    },
    pages: (version) => pagesOfAsyncView(snapshot.at(version)),
  }
}

async function* pagesOfAsyncView(view: AsyncStateView): AsyncGenerator<readonly KeyedEntry[]> {
  for (let start: Uint8Array | undefined = ALL_KEYS; start; ) {
    const page = await view.scan(ALL_KEYS, { start })
    yield page.entries
    start = page.next
  }
}
