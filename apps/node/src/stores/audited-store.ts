import { setImmediate } from 'node:timers/promises'
import type { KeyedEntry } from '@ledger-state/core'
import type {
  AsyncStateReader,
  AsyncStateView,
  LedgerSummary,
  StateEngineReader,
  StateView,
} from '@ledger-state/engine'
import { newestCheckpoint } from '@ledger-state/ingest'
import type { SignedCheckpoint } from '@ledger-state/proof'
import { CHECKPOINT_KEY, SLICE_KEY, STATE_ROOT_KEY } from '@ledger-state/records'

const PAGE = 1_000
const ALL_KEYS = new Uint8Array(0)

/** A value of one of the store's own keys. */
export interface OwnValue {
  readonly version: bigint
  readonly value: Uint8Array
}

/** The reads of an engine that the audit of a state, and its tree, need; the engine's reads may be promises or not. */
export interface AuditedStore {
  readonly ledger: LedgerSummary | undefined
  readonly mark: Uint8Array | undefined
  /** Whether the store holds everything that existed at its base; false if an empty base was assumed. */
  readonly isComplete: boolean
  /** The newest root of a state that was written up to a version. */
  newestRoot(last: bigint): Promise<OwnValue | undefined>
  /** The first version in the window with a root of its state. */
  oldestRootVersion(): Promise<bigint | undefined>
  /** Whether the store keeps only a slice of its ledger, and therefore no whole state. */
  isSlice(): Promise<boolean>
  /** The newest signed checkpoint. Its version may be pruned. */
  newestCheckpoint(): Promise<SignedCheckpoint | undefined>
  /** All entries of a version. */
  pages(version: bigint): AsyncIterable<readonly KeyedEntry[]>
}

/** Opens the reads of an audit, at the present state of the engine. */
export async function auditedStore(engine: StateEngineReader | AsyncStateReader): Promise<AuditedStore> {
  return engine.kind === 'sync' ? auditedEngine(engine) : await auditedSnapshot(engine)
}

function auditedEngine(engine: StateEngineReader): AuditedStore {
  return {
    ledger: engine.ledger,
    mark: engine.mark,
    isComplete: engine.base?.complete !== false,
    newestRoot: async (last) => {
      for (const { version, value } of engine.history(STATE_ROOT_KEY, { last })) {
        return value ? { version, value } : undefined
      }
      return undefined
    },
    oldestRootVersion: async () => {
      const first = engine.ledger?.oldestVersion
      for (const { version } of engine.history(STATE_ROOT_KEY, { first, order: 'asc' })) return version
      return undefined
    },
    newestCheckpoint: async () => newestCheckpoint(engine.ledger && engine.at().get(CHECKPOINT_KEY), engine.mark),
    isSlice: async () => engine.ledger !== undefined && engine.at().getEntry(SLICE_KEY) !== undefined,
    pages: (version) => pagesOfView(engine.at(version)),
  }
}

/**
 * Reads all entries. Between pages the event loop has a turn: signals are handled, and the engine renews its snapshot,
 * which would keep pages from reuse.
 */
async function* pagesOfView(view: StateView): AsyncGenerator<readonly KeyedEntry[]> {
  let page: KeyedEntry[] = []
  for (const entry of view.scan(ALL_KEYS)) {
    if (page.push(entry) < PAGE) continue
    yield page
    page = []
    await setImmediate()
  }
  yield page
}

async function auditedSnapshot(engine: AsyncStateReader): Promise<AuditedStore> {
  const snapshot = await engine.snapshot()
  return {
    ledger: snapshot.ledger,
    mark: snapshot.mark,
    isComplete: snapshot.base?.complete !== false,
    newestRoot: async (last) => {
      const { revisions } = await snapshot.history(STATE_ROOT_KEY, { last, limit: 1 })
      const [newest] = revisions
      return newest?.value ? { version: newest.version, value: newest.value } : undefined
    },
    oldestRootVersion: async () => {
      const first = snapshot.ledger?.oldestVersion
      const { revisions } = await snapshot.history(STATE_ROOT_KEY, { first, order: 'asc', limit: 1 })
      return revisions[0]?.version
    },
    newestCheckpoint: async () => {
      const [written] = snapshot.ledger ? await snapshot.at().load([CHECKPOINT_KEY]) : []
      return newestCheckpoint(written?.value, snapshot.mark)
    },
    isSlice: async () => snapshot.ledger !== undefined && (await snapshot.at().load([SLICE_KEY]))[0] !== undefined,
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
