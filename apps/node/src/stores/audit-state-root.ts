import { Buffer } from 'node:buffer'
import { tmpdir } from 'node:os'
import { bytesToHexDigits } from '@ledger-state/core'
import { type AsyncStateReader, type StateEngineReader, versionNotFound, versionPruned } from '@ledger-state/engine'
import { computeStateRoot } from '@ledger-state/feed'
import { decodeCommitMark } from '@ledger-state/records'
import { noLedgerErrors, stateRootUnknown, storeStateRootDiffers } from '../errors.js'
import { formatCount, formatCounted } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { auditedStore, type OwnValue } from './audited-store.js'
import { nameOfPlace, type StorePlace } from './store-place.js'

export interface AuditOptions {
  /** Newest version to audit; the newest of the store by default. */
  readonly version?: bigint | undefined
  /** The word before the name of each hash; by default the one that the store remembers. */
  readonly hashSalt?: string | undefined
  /** Number of threads that hash, as in `computeStateRoot`. */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Computes the root of the newest state of a store that can be audited, and compares it with the ledger's root. Shows
 * progress on standard error.
 * @returns one line for people
 * @throws `no_ledger`; `state_root_unknown` if the store keeps no root, or keeps a slice, or began on an assumed empty
 * base; `state_root_differs`; `version_pruned` if the version is pruned meanwhile
 */
export async function auditStateRoot(
  engine: StateEngineReader | AsyncStateReader,
  place: StorePlace,
  { version, hashSalt, threads, signal }: AuditOptions,
): Promise<string> {
  const store = await auditedStore(engine)
  if (await store.isSlice()) throw stateRootUnknown.sliceHasNoRoot()
  if (!store.isComplete) throw stateRootUnknown.assumedBaseHasNoRoot()
  const name = nameOfPlace(place)
  const { ledger } = store
  if (!ledger) throw noLedgerErrors.emptyStore(name)
  const last = version ?? ledger.latestVersion
  if (last > ledger.latestVersion) throw versionNotFound(last)
  if (last < ledger.oldestVersion) throw versionPruned(last, ledger.oldestVersion)
  const held = await store.newestRoot(last)
  if (!held || held.version < ledger.oldestVersion) throw stateRootUnknown.inRange(name, ledger.oldestVersion, last)
  const line = createProgressLine(process.stderr)
  const onProgress = (keys: number) =>
    line.update((seconds) => {
      return `auditing version ${held.version}: ${formatCounted(keys, 'key')}, ${formatCount(Math.round(keys / seconds))} keys/s`
    })
  try {
    const spillFolder = place.kind === 'folder' ? place.dataDir : tmpdir()
    const { root } = await computeStateRoot(store.pages(held.version), {
      spillFolder,
      hashSalt: hashSalt ?? decodeCommitMark(store.mark).hashSalt,
      threads,
      signal,
      onProgress,
    })
    if (Buffer.compare(root, held.value) !== 0) throw storeStateRootDiffers(name, held.version, held.value, root)
  } finally {
    line.finish()
  }
  return describeRoot(held, store.mark)
}

/**
 * A confirmed root of a state, as one line for people.
 * @param mark mark of the store
 */
function describeRoot({ version, value }: OwnValue, mark: Uint8Array | undefined): string {
  const { signed } = decodeCommitMark(mark)
  const by = signed && signed.version >= version ? `signed by epoch ${signed.epoch}` : 'not signed'
  return `state root of version ${version}: ${bytesToHexDigits(value)}, as the ledger says (${by})`
}
