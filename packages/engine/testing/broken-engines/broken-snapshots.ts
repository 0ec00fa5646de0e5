import { overriding } from '@ledger-state/testing/overriding'
import type { AsyncSnapshot, AsyncStateView, AsyncStateWriter } from '../../src/ports/async-engine-ports.ts'
import { asyncViews, type Faults, onAsyncView, onSnapshot, snapshots } from './patches.ts'

const { answered, given, rescued } = onSnapshot
const EMPTY = new Uint8Array(0)

/** View of a snapshot that is taken now: of a version, or of the latest if there is no such version any more. */
async function now(engine: AsyncStateWriter, version: bigint): Promise<AsyncStateView> {
  const snapshot = await engine.snapshot()
  const { latestVersion } = snapshot.ledger!
  return snapshot.at(version < latestVersion ? version : latestVersion)
}

/** Faults that only engines with the async port can have. */
export const BROKEN_SNAPSHOTS: Faults<AsyncStateWriter> = {
  'finds nothing in a pruned view: load': asyncViews(
    onAsyncView.rescued('load', ([keys]) => keys.map(() => undefined)),
  ),
  'finds nothing in a pruned view: scan': asyncViews(
    onAsyncView.rescued('scan', () => ({ entries: [], next: undefined })),
  ),
  'leaves out absent keys of a load': asyncViews(
    onAsyncView.answered('load', (entries) => entries.filter((entry) => entry)),
  ),
  'reads an empty value as absent': asyncViews(
    onAsyncView.answered('load', (entries) => entries.map((entry) => (entry?.value.length ? entry : undefined))),
  ),
  'reads an absent key as an empty value': asyncViews(
    onAsyncView.answered('load', (entries) => entries.map((entry) => entry ?? { version: 0n, value: EMPTY })),
  ),
  'says that an entry was written by the version of the view': asyncViews(
    onAsyncView.answered('load', (entries, _, { version }) => entries.map((entry) => entry && { ...entry, version })),
  ),
  'ends a scan with its first page': asyncViews(
    onAsyncView.answered('scan', ({ entries }) => ({ entries: entries.slice(0, 100), next: undefined })),
  ),
  'shows commits made after a snapshot': snapshots(
    answered('at', (view, [version], _, engine) => {
      if (version !== undefined) return view
      const load: typeof view.load = async (keys) => {
        const newer = await engine.snapshot()
        return newer.at(newer.ledger!.latestVersion).load(keys)
      }
      return overriding(view, { load })
    }),
  ),
  'answers versions above the latest': snapshots(
    given('at', ([version], { ledger }) => [
      version !== undefined && version > ledger!.latestVersion ? undefined : version,
    ]),
  ),
  'ends a history with its first page': snapshots(answered('history', (page) => ({ ...page, next: undefined }))),
  'begins the next page of a history with the last revision of the page before': snapshots(
    answered('history', (page) => (page.next === undefined ? page : { ...page, next: page.revisions.at(-1)!.version })),
  ),
  'finishes a history that a prune overtakes': snapshots(
    rescued('history', () => ({ revisions: [], next: undefined }), 'version_pruned'),
  ),
  'lists the first page of versions only': snapshots(answered('versions', (page) => ({ ...page, next: undefined }))),
  'ends a list of versions early that a prune overtakes': snapshots(
    rescued('versions', () => ({ versions: [], next: undefined })),
  ),
  'answers blocks of versions that were pruned': snapshots(
    given('blockAt', ([version], { ledger }) => {
      const oldest = ledger?.oldestVersion ?? 0n
      return [typeof version === 'bigint' && version < oldest ? oldest : version]
    }),
  ),
  'answers for a version that was cut off from the present branch': snapshots(
    answered('at', (view, _, __, engine) => {
      const load: typeof view.load = (keys) =>
        view.load(keys).catch(async () => (await now(engine, view.version)).load(keys))
      return overriding(view, { load })
    }),
  ),
  'continues with the history of another branch': snapshots(
    rescued('history', async (all, _, engine) => (await engine.snapshot()).history(...all)),
  ),
  'continues with the versions of another branch': snapshots(
    rescued('versions', async (all, _, engine) => (await engine.snapshot()).versions(...all)),
  ),
  'takes a snapshot for the newest for ever': (engine) => {
    let first: Promise<AsyncSnapshot> | undefined
    return {
      snapshot: () => {
        first ??= engine.snapshot()
        return first
      },
    }
  },
  'answers after it was closed': (engine) => {
    let last: AsyncSnapshot | undefined
    return {
      snapshot: async () => {
        try {
          last = await engine.snapshot()
        } catch (error) {
          if (!last) throw error
        }
        return last!
      },
    }
  },
}
