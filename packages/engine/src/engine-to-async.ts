import type { VersionWrites } from '@ledger-state/core'
import type {
  AsyncHistoryOptions,
  AsyncSnapshot,
  AsyncStateView,
  AsyncStateWriter,
  HistoryPage,
  ScanPage,
} from './ports/async-engine-ports.js'
import type { StateWriter } from './ports/engine-ports.js'
import type { Block, LedgerSummary } from './ports/state-port.js'
import { expectNotTruncated } from './validation/truncations.js'
import { expectArray, expectCount, toHistoryRange, toScanRange } from './validation/validate-arguments.js'
import { expectBlockKept, expectKept, expectLedger, expectListable, keptPage } from './validation/window.js'
import { expectSearchKept, toWriteRange, type WriteRange } from './validation/write-range.js'

/** Most items of a page. */
const PAGE = 1_000

/**
 * Wraps an engine in the port of asynchronous engines. In tests it is the model for code that reads from such engines.
 */
export function engineToAsync(engine: StateWriter): AsyncStateWriter {
  return {
    kind: 'async',
    get ledger() {
      return engine.ledger
    },
    snapshot: async () => takeSnapshot(engine),
    onCommit: (listener, options) => engine.onCommit(listener, options),
    commit: (versions, options) => engine.commit(versions, options),
    prune: (retainVersions, options) => engine.prune(retainVersions, options),
    truncateTo: (version, options) => engine.truncateTo(version, options),
    putMark: (mark) => engine.putMark(mark),
    beginImport: (version, options) => engine.beginImport(version, options),
    unfinishedImport: () => engine.unfinishedImport(),
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

function takeSnapshot(engine: StateWriter): AsyncSnapshot {
  const { ledger, base, mark } = engine
  return {
    ledger,
    base,
    mark,
    at: (version) => asyncView(engine, version, ledger),
    blockAt: async (version) => blockOf(engine, version, ledger),
    blockByHeight: async (height) => {
      const found = engine.blockByHeight(height)
      expectLedger(ledger)
      expectNothingCut(engine, ledger)
      expectBlockKept(found, ledger, engine.ledger!)
      return found && visibleBlock(found, ledger)
    },
    blockAtTime: async (timestampUsec) => {
      const found = engine.blockAtTime(timestampUsec)
      expectLedger(ledger)
      expectNothingCut(engine, ledger)
      expectBlockKept(found, ledger, engine.ledger!)
      // If the block that was found begins after the snapshot, the answer is the newest block of the snapshot.
      return found && (visibleBlock(found, ledger) ?? blockOf(engine, ledger.latestVersion, ledger))
    },
    history: async (key, options) => historyPage(engine, key, options, ledger),
    nearestWrites: async (keys, search) => {
      expectArray('the keys', keys)
      const range = toWriteRange(search, ledger)
      expectLedger(ledger)
      expectNotTruncated(range.last, ledger, engine.ledger)
      const found = keys.map((key) => nearestWrite(engine, key, range))
      expectSearchKept(range, found, ledger, engine.ledger!)
      return found
    },
    versions: async (first, last, { limit = PAGE } = {}) => {
      expectListable(first, last, ledger)
      expectNotTruncated(last, ledger, engine.ledger)
      const versions: VersionWrites[] = []
      for (const one of engine.versions(first, last)) {
        versions.push(one)
        if (versions.length >= limit) break
      }
      const next = first + BigInt(versions.length)
      return { versions, next: next <= last ? next : undefined }
    },
  }
}

function asyncView(
  engine: StateWriter,
  version: bigint | undefined,
  ledger: LedgerSummary | undefined,
): AsyncStateView {
  expectLedger(ledger)
  if (version !== undefined) expectKept(version, ledger)
  const pinned = version ?? ledger.latestVersion
  expectNotTruncated(pinned, ledger, engine.ledger)
  const view = engine.at(pinned)
  return {
    version: view.version,
    ledger,
    load: async (keys) => {
      expectArray('the keys', keys)
      return keys.map((key) => view.getEntry(key))
    },
    scan: async (prefix, options) => scanPage(view, prefix, options),
  }
}

function scanPage(view: ReturnType<StateWriter['at']>, prefix: Uint8Array, options: ScanOptionsOf): ScanPage {
  const { limit } = toScanRange(prefix, options)
  const isCut = limit > PAGE
  const entries = [...view.scan(prefix, isCut ? { ...options, limit: PAGE + 1 } : options)]
  const beyond = isCut ? entries[PAGE] : undefined
  return { entries: beyond ? entries.slice(0, PAGE) : entries, next: beyond?.key }
}

type ScanOptionsOf = Parameters<AsyncStateView['scan']>[1]

function historyPage(
  engine: StateWriter,
  key: Uint8Array,
  options: AsyncHistoryOptions | undefined,
  ledger: LedgerSummary | undefined,
): HistoryPage {
  const { limit = PAGE, ...range } = options ?? {}
  expectCount('the limit of the history', limit, 1)
  const { first, last, isNewestFirst } = toHistoryRange(key, range)
  expectLedger(ledger)
  const now = engine.ledger!
  const end = last === undefined || last > ledger.latestVersion ? ledger.latestVersion : last
  expectNotTruncated(end, ledger, now)
  const found = []
  const most = Math.min(limit, PAGE)
  for (const revision of engine.history(key, { ...range, last: end })) if (found.push(revision) > most) break
  const step = { first, isNewestFirst, from: isNewestFirst ? end : first }
  return keptPage(found.slice(0, most), found.length > most, step, ledger, now)
}

/** Finds the block of a version, as the snapshot sees it. @throws as `AsyncSnapshot.blockAt` */
function blockOf(engine: StateWriter, version: bigint, ledger: LedgerSummary | undefined): Block {
  expectLedger(ledger)
  expectKept(version, ledger)
  expectNothingCut(engine, ledger)
  return visibleBlock(engine.blockAt(version), ledger)!
}

/** Checks that nothing was cut off since the snapshot: the end of a block may depend on any later version. */
function expectNothingCut(engine: StateWriter, ledger: LedgerSummary): void {
  expectNotTruncated(ledger.latestVersion, ledger, engine.ledger)
}

function nearestWrite(engine: StateWriter, key: Uint8Array, { first, last, isUpward }: WriteRange): bigint | undefined {
  for (const { version } of engine.history(key, { first, last, order: isUpward ? 'asc' : 'desc' })) {
    return version
  }
  return undefined
}

/**
 * A block as the snapshot sees it, which may be older than the end or the beginning of the block. Undefined if it is
 * older than the beginning.
 */
function visibleBlock(block: Block, { latestVersion }: LedgerSummary): Block | undefined {
  if (block.firstVersion > latestVersion) return undefined
  return block.lastVersion > latestVersion ? { ...block, lastVersion: latestVersion } : block
}
