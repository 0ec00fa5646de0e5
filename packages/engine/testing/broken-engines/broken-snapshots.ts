import { overriding } from '@ledger-state/testing/overriding'
import type { AsyncSnapshot, AsyncStateView, AsyncStateWriter } from '../../src/ports/async-engine-ports.ts'

/** An async engine with one fault, which the contract has to find. */
export interface BrokenAsyncEngine {
  readonly fault: string
  breakEngine(engine: AsyncStateWriter): AsyncStateWriter
}

function brokenSnapshot(
  fault: string,
  replace: (snapshot: AsyncSnapshot, engine: AsyncStateWriter) => Partial<AsyncSnapshot>,
): BrokenAsyncEngine {
  const breakEngine = (engine: AsyncStateWriter) =>
    overriding(engine, {
      snapshot: async () => {
        const snapshot = await engine.snapshot()
        return overriding(snapshot, replace(snapshot, engine))
      },
    })
  return { fault, breakEngine }
}

function brokenView(fault: string, replace: (view: AsyncStateView) => Partial<AsyncStateView>): BrokenAsyncEngine {
  return brokenSnapshot(fault, (snapshot) => ({
    at: (version) => {
      const view = snapshot.at(version)
      return overriding(view, replace(view))
    },
  }))
}

/** View of a snapshot that is taken now. */
async function now(engine: AsyncStateWriter, version: bigint): Promise<AsyncStateView> {
  const snapshot = await engine.snapshot()
  return snapshot.at(version)
}

const EMPTY = new Uint8Array(0)

/** Faults that only engines with the async port can have. */
export const BROKEN_SNAPSHOTS: readonly BrokenAsyncEngine[] = [
  brokenView('finds nothing in a pruned view: load', (view) => ({
    load: (keys) => view.load(keys).catch(() => keys.map(() => undefined)),
  })),
  brokenView('finds nothing in a pruned view: scan', (view) => ({
    scan: (...given) => view.scan(...given).catch(() => ({ entries: [], next: undefined })),
  })),
  brokenView('leaves out absent keys of a load', (view) => ({
    load: async (keys) => (await view.load(keys)).filter((entry) => entry),
  })),
  brokenView('reads an empty value as absent', (view) => ({
    load: async (keys) => (await view.load(keys)).map((entry) => (entry?.value.length ? entry : undefined)),
  })),
  brokenView('reads what is absent as an empty value', (view) => ({
    load: async (keys) => (await view.load(keys)).map((entry) => entry ?? { version: 0n, value: EMPTY }),
  })),
  brokenView('says that an entry was written by the version of the view', (view) => ({
    load: async (keys) => (await view.load(keys)).map((entry) => entry && { ...entry, version: view.version }),
  })),
  brokenView('ends a scan with its first page', (view) => ({
    scan: async (prefix, options) => {
      const page = await view.scan(prefix, options)
      return { entries: page.entries.slice(0, 100), next: undefined }
    },
  })),
  brokenSnapshot('shows what was committed after a snapshot', (snapshot, engine) => ({
    at: (version) => {
      const view = snapshot.at(version)
      if (version !== undefined) return view
      const load: typeof view.load = async (keys) =>
        (await now(engine, (await engine.snapshot()).ledger!.latestVersion)).load(keys)
      return overriding(view, { load })
    },
  })),
  brokenSnapshot('answers versions above the latest', (snapshot) => ({
    at: (version) =>
      snapshot.at(version !== undefined && version > snapshot.ledger!.latestVersion ? undefined : version),
  })),
  brokenSnapshot('ends a history with its first page', (snapshot) => ({
    history: async (key, options) => ({ ...(await snapshot.history(key, options)), next: undefined }),
  })),
  brokenSnapshot('begins the next page of a history with the last revision of the page before', (snapshot) => ({
    history: async (key, options) => {
      const page = await snapshot.history(key, options)
      return page.next === undefined ? page : { ...page, next: page.revisions.at(-1)!.version }
    },
  })),
  brokenSnapshot('finishes a history that a prune overtakes', (snapshot) => ({
    history: (...given) =>
      snapshot.history(...given).catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== 'version_pruned') throw error
        return { revisions: [], next: undefined }
      }),
  })),
  brokenSnapshot('lists the first page of versions only', (snapshot) => ({
    versions: async (...given) => ({ ...(await snapshot.versions(...given)), next: undefined }),
  })),
  brokenSnapshot('ends a list of versions early that a prune overtakes', (snapshot) => ({
    versions: (first, ...given) => snapshot.versions(first, ...given).catch(() => ({ versions: [], next: undefined })),
  })),
  brokenSnapshot('answers blocks of versions that were pruned', (snapshot) => ({
    blockAt: (version) => {
      const { oldestVersion } = snapshot.ledger ?? { oldestVersion: 0n }
      return snapshot.blockAt(typeof version === 'bigint' && version < oldestVersion ? oldestVersion : version)
    },
  })),
  brokenSnapshot('answers what was cut off from the branch of now', (snapshot, engine) => ({
    at: (version) => {
      const view = snapshot.at(version)
      const load: typeof view.load = (keys) =>
        view.load(keys).catch(async () => {
          const { latestVersion } = (await engine.snapshot()).ledger!
          return (await now(engine, view.version < latestVersion ? view.version : latestVersion)).load(keys)
        })
      return overriding(view, { load })
    },
  })),
  brokenSnapshot('continues with the history of another branch', (snapshot, engine) => ({
    history: (...given) => snapshot.history(...given).catch(async () => (await engine.snapshot()).history(...given)),
  })),
  brokenSnapshot('continues with the versions of another branch', (snapshot, engine) => ({
    versions: (...given) => snapshot.versions(...given).catch(async () => (await engine.snapshot()).versions(...given)),
  })),
  {
    fault: 'takes a snapshot for the newest for ever',
    breakEngine: (engine) => {
      let first: Promise<AsyncSnapshot> | undefined
      return overriding(engine, {
        snapshot: () => {
          first ??= engine.snapshot()
          return first
        },
      })
    },
  },
  {
    fault: 'answers after it was closed',
    breakEngine: (engine) => {
      let last: AsyncSnapshot | undefined
      return overriding(engine, {
        snapshot: async () => {
          try {
            last = await engine.snapshot()
          } catch (error) {
            if (!last) throw error
          }
          return last!
        },
      })
    },
  },
]
