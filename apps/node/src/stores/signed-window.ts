import {
  type AsyncState,
  type AsyncStateReader,
  type AsyncStateSnapshot,
  type AsyncStateView,
  type Block,
  type LedgerSummary,
  noLedger,
  type StateReader,
  type StateView,
  versionNotFound,
} from '@ledger-state/engine'
import { decodeCommitMark } from '@ledger-state/records'

// A store as `--require-signed` serves it: versions above the newest signed one do not exist yet for any read. If
// nothing is signed, there is no ledger.

/**
 * The reads of a store up to its newest signed version.
 * @param readSigned returns the newest signed version; undefined if nothing is signed
 */
export function upToSigned(state: StateReader, readSigned: () => bigint | undefined): StateReader {
  const capped = createCap()
  const current = () => capped(state.ledger, readSigned(), (version) => state.blockAt(version))
  const expectLedger = () => {
    const ledger = current()
    if (!ledger) throw noLedger()
    return ledger
  }
  const blockAt = (version: bigint) => {
    const ledger = expectLedger()
    expectSigned(version, ledger)
    return cutBlock(state.blockAt(version), ledger)
  }
  return {
    get ledger() {
      return current()
    },
    get base() {
      return current() && state.base
    },
    at(version) {
      const ledger = expectLedger()
      const asked = version ?? ledger.latestVersion
      expectSigned(asked, ledger)
      return viewWith(state.at(asked), ledger)
    },
    blockAt,
    blockByHeight(height) {
      const ledger = expectLedger()
      const block = state.blockByHeight(height)
      return block && isSigned(block, ledger) ? cutBlock(block, ledger) : undefined
    },
    blockAtTime(timestampUsec) {
      const ledger = expectLedger()
      const block = state.blockAtTime(timestampUsec)
      if (!block) return undefined
      return isSigned(block, ledger) ? cutBlock(block, ledger) : blockAt(ledger.latestVersion)
    },
    history(key, options = {}) {
      const { latestVersion } = expectLedger()
      if (options.first !== undefined && options.first > latestVersion) return []
      return state.history(key, { ...options, last: smaller(options.last, latestVersion) })
    },
  }
}

/** The reads of an async engine as in `upToSigned`: each snapshot has the signed version of its own mark. */
export function asyncUpToSigned(state: AsyncStateReader): AsyncState {
  let newest: LedgerSummary | undefined
  const capped = createCap()
  return {
    get ledger() {
      return newest
    },
    async snapshot() {
      const snapshot = await state.snapshot()
      const signed = decodeCommitMark(snapshot.mark).signed?.version
      const cap = signed === undefined ? undefined : smaller(signed, snapshot.ledger?.latestVersion ?? signed)
      const isKept = cap !== undefined && snapshot.ledger !== undefined && cap >= snapshot.ledger.oldestVersion
      const block = isKept ? await snapshot.blockAt(cap) : undefined
      newest = capped(snapshot.ledger, signed, () => block!)
      return snapshotWith(snapshot, newest)
    },
  }
}

function snapshotWith(snapshot: AsyncStateSnapshot, ledger: LedgerSummary | undefined): AsyncStateSnapshot {
  const expectLedger = () => {
    if (!ledger) throw noLedger()
    return ledger
  }
  const blockAt = async (version: bigint) => {
    expectSigned(version, expectLedger())
    return cutBlock(await snapshot.blockAt(version), expectLedger())
  }
  return {
    ledger,
    base: ledger && snapshot.base,
    at(version) {
      const asked = version ?? expectLedger().latestVersion
      expectSigned(asked, expectLedger())
      return asyncViewWith(snapshot.at(asked), expectLedger())
    },
    blockAt,
    async blockByHeight(height) {
      const block = await snapshot.blockByHeight(height)
      return block && isSigned(block, expectLedger()) ? cutBlock(block, expectLedger()) : undefined
    },
    async blockAtTime(timestampUsec) {
      const block = await snapshot.blockAtTime(timestampUsec)
      const { latestVersion } = expectLedger()
      if (!block) return undefined
      return isSigned(block, expectLedger()) ? cutBlock(block, expectLedger()) : await blockAt(latestVersion)
    },
    async history(key, options = {}) {
      const { latestVersion } = expectLedger()
      if (options.first !== undefined && options.first > latestVersion) return { revisions: [], next: undefined }
      return await snapshot.history(key, { ...options, last: smaller(options.last, latestVersion) })
    },
    async nearestWrites(keys, search) {
      const { latestVersion } = expectLedger()
      if ('until' in search) return await snapshot.nearestWrites(keys, { until: smaller(search.until, latestVersion) })
      if (search.above >= latestVersion) return keys.map(() => undefined)
      return await snapshot.nearestWrites(keys, { ...search, last: smaller(search.last, latestVersion) })
    },
  }
}

/**
 * Returns the ledger up to its signed version. It is one object for as long as both stay the same, because headers of
 * answers are cached by it.
 */
function createCap() {
  let known: { readonly of: LedgerSummary; readonly signed: bigint; readonly ledger: LedgerSummary } | undefined
  return (
    ledger: LedgerSummary | undefined,
    signed: bigint | undefined,
    blockAt: (version: bigint) => Block,
  ): LedgerSummary | undefined => {
    if (!ledger || signed === undefined || signed < ledger.oldestVersion) return undefined
    if (signed >= ledger.latestVersion) return ledger
    if (known?.of !== ledger || known.signed !== signed) {
      const capped = { ...ledger, latestVersion: signed, latestBlock: blockAt(signed).block }
      known = { of: ledger, signed, ledger: capped }
    }
    return known.ledger
  }
}

function viewWith(view: StateView, ledger: LedgerSummary): StateView {
  return {
    version: view.version,
    ledger,
    get: (key) => view.get(key),
    peek: (key) => view.peek(key),
    getEntry: (key) => view.getEntry(key),
    scan: (prefix, options) => view.scan(prefix, options),
  }
}

function asyncViewWith(view: AsyncStateView, ledger: LedgerSummary): AsyncStateView {
  return {
    version: view.version,
    ledger,
    load: (keys) => view.load(keys),
    scan: (prefix, options) => view.scan(prefix, options),
  }
}

/**
 * Checks that a version is signed.
 * @throws `version_not_found`
 */
function expectSigned(version: bigint, { latestVersion }: LedgerSummary): void {
  if (version > latestVersion) throw versionNotFound(version)
}

function isSigned({ firstVersion }: Block, { latestVersion }: LedgerSummary): boolean {
  return firstVersion <= latestVersion
}

/** A block without its newest versions that are not signed yet. */
function cutBlock(block: Block, { latestVersion }: LedgerSummary): Block {
  return block.lastVersion > latestVersion ? { ...block, lastVersion: latestVersion } : block
}

function smaller(a: bigint | undefined, b: bigint): bigint {
  return a !== undefined && a < b ? a : b
}
