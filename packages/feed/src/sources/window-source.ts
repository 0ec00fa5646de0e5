import { posix } from 'node:path'
import { versionOfWaypoint } from '@ledger-state/proof'
import pMap from 'p-map'
import { snapshotTooNew, sourceFailed } from '../errors.js'
import {
  type BackupContents,
  OBJECTS_AT_ONCE,
  readBackupMetadata,
  readManifest,
  readManifests,
} from '../files/backup-directory.js'
import type { EpochEndingEntry } from '../files/backup-entries.js'
import type { BackupStorage, StoredObject } from '../files/backup-storage.js'
import { EpochTimes } from '../window/epoch-times.js'
import { measureSpeed } from '../window/link-speed.js'
import { readRememberedWindow, rememberWindow } from '../window/remembered-window.js'
import { type BackupWindow, earliestBegin, hasBase, selectWindow } from '../window/select-window.js'
import type { FetchPlan, PlanOptions, WantedWindow } from '../window/wanted-window.js'
import type { LedgerSource, LedgerVersion, Reading, SourceOptions } from './source.js'
import { openStateSnapshot } from './state-snapshot.js'
import { openTransactionEntries } from './transaction-backup.js'

const USEC_PER_MS = 1_000n

/**
 * Opens the part of a backup that a window needs: the newest state at or before its beginning, and the transactions
 * after that. Nothing large is read yet.
 * @throws `invalid_argument` if the backup does not have the window; `invalid_backup`, `verification_failed`
 */
export async function openWindow(
  storage: BackupStorage,
  wanted: WantedWindow,
  options: SourceOptions,
): Promise<LedgerSource> {
  const contents = await readBackupMetadata(storage)
  const { window, toUsec } = await chooseWindow(storage, contents, wanted, options)
  const { base, transactions, firstVersion, lastVersion } = window
  // Who verifies the state is found out when it is read, since a store may hold the state already.
  const state =
    base && (await openStateSnapshot(storage, posix.dirname(base.manifest), options, { verifyEarly: false }))
  const end = { version: lastVersion, timeUsec: toUsec }
  const rest = transactions.length === 0 ? undefined : openTransactionEntries(storage, transactions, end, options)
  return joinSources(storage.root, window, state, rest, {
    plan: (asked) => planFetch(storage, window, state, contents.endings, options, asked),
    description: `${base ? `state at version ${base.version}, and ` : ''}versions ${firstVersion} to ${lastVersion} of the backup in ${storage.root}`,
  })
}

async function chooseWindow(
  storage: BackupStorage,
  contents: BackupContents,
  { since, to, words, isRemembered = true }: WantedWindow,
  { sourceFolder: folder, network }: SourceOptions,
): Promise<{ readonly window: BackupWindow; readonly toUsec: bigint | undefined }> {
  const { root } = storage
  const times = new EpochTimes(storage, contents.endings, BigInt(Date.now()) * USEC_PER_MS)
  const toVersion = to && ('version' in to ? to.version : await times.firstEndAtOrAfter(to.timeUsec))
  // The backups of a network are mirrors of each other, so a store that began with one continues with another.
  const of = network?.name ?? root
  const held = folder === undefined ? undefined : await readRememberedWindow(folder)
  const heldBase = held?.base == null ? undefined : BigInt(held.base)
  const isHeld = held?.of === of && held.words === words && hasBase(contents, heldBase)
  const begin =
    'version' in since ? since.version : isHeld ? (heldBase ?? 0n) : await times.lastEndAtOrBefore(since.timeUsec)
  const earliest = earliestBegin(contents)
  if (earliest === undefined || begin < earliest) {
    throw snapshotTooNew(root, begin, earliest, earliest && (await times.timeOfEnd(earliest)))
  }
  const window = selectWindow(root, contents, begin, toVersion)
  if (folder !== undefined && isRemembered && !isHeld) {
    await rememberWindow(folder, { of, words, base: window.base?.version.toString() ?? null })
  }
  return { window, toUsec: to && 'timeUsec' in to ? to.timeUsec : undefined }
}

/** Joins a state and the transactions after it into one source. */
function joinSources(
  root: string,
  { base }: BackupWindow,
  state: LedgerSource | undefined,
  rest: LedgerSource | undefined,
  named: Pick<LedgerSource, 'plan' | 'description'>,
): LedgerSource {
  let hasVersions = false
  const current = (): LedgerSource | undefined => (hasVersions || !state ? rest : state)
  return {
    ...named,
    base: state?.base,
    get chainId() {
      return rest?.chainId ?? state?.chainId
    },
    get position() {
      return current()?.position ?? root
    },
    get mark() {
      return current()?.mark
    },
    get hashSalt() {
      return current()?.hashSalt
    },
    get trustedState() {
      return current()?.trustedState
    },
    get progress() {
      return (current() ?? state)!.progress
    },
    signedPoints: async function* (reading) {
      yield* rest?.signedPoints?.(reading) ?? []
    },
    takeEndings: () => [...(state?.takeEndings?.() ?? []), ...(rest?.takeEndings?.() ?? [])],
    async *versions(reading: Reading = {}): AsyncGenerator<LedgerVersion> {
      if (!rest) return
      // The state's own transaction need not be fetched for comparison: the mark proves the following ones.
      const version =
        reading.version !== undefined && reading.version === base?.version ? reading.version + 1n : undefined
      for await (const record of rest.versions(version === undefined ? reading : { ...reading, version })) {
        hasVersions = true
        yield record
      }
    },
    async close() {
      await state?.close()
      await rest?.close()
    },
  }
}

/** Most objects of a plan. A backup of a whole network has about 100,000. */
const MOST_OBJECTS = 2_000_000

async function planFetch(
  storage: BackupStorage,
  { base, transactions, firstVersion, lastVersion }: BackupWindow,
  state: LedgerSource | undefined,
  endings: readonly EpochEndingEntry[],
  options: SourceOptions,
  { held, measure = false }: PlanOptions = {},
): Promise<FetchPlan> {
  const needsBase = base !== undefined && (held === undefined || held < base.version)
  const first = held !== undefined && held >= firstVersion ? held + 1n : firstVersion
  const names = new Set<string>()
  if (needsBase) {
    const manifest = await readManifest(storage, base.manifest)
    for (const chunk of manifest.list('chunks')) names.add(chunk.fileName('blobs')).add(chunk.fileName('proof'))
    names.add(manifest.fileName('proof'))
  }
  const wanted = transactions.filter((entry) => entry.lastVersion >= first)
  for await (const { manifest } of readManifests(storage, wanted)) {
    for (const chunk of manifest.list('chunks')) {
      if (chunk.version('last_version') < first || chunk.version('first_version') > lastVersion) continue
      names.add(chunk.fileName('transactions')).add(chunk.fileName('proof'))
    }
    if (names.size > MOST_OBJECTS) throw sourceFailed.tooManyObjects(storage.root, MOST_OBJECTS)
  }
  const objects = await findObjects(storage, names)
  const largest = objects.toSorted((a, b) => b.bytes - a.bytes).map(({ name }) => name)
  return {
    base: needsBase ? { version: base.version, entries: state!.progress.total } : undefined,
    firstVersion: first,
    lastVersion,
    objects: objects.length,
    bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0),
    endings: endingsNeeded(endings, options, lastVersion),
    bytesPerSecond: measure ? await measureSpeed(storage, largest) : undefined,
  }
}

/**
 * Finds objects by their names.
 * @param names as manifests have them, without the suffix of a compression
 */
async function findObjects(storage: BackupStorage, names: ReadonlySet<string>): Promise<StoredObject[]> {
  const folders = [...new Set([...names].map((name) => posix.dirname(name)))]
  const list = async (folder: string): Promise<StoredObject[]> => {
    const listed: StoredObject[] = []
    for await (const object of storage.list(folder)) {
      if (names.has(object.name.replace(/\.(gz|zst)$/, ''))) listed.push(object)
    }
    return listed
  }
  return (await pMap(folders, list, { concurrency: OBJECTS_AT_ONCE })).flat()
}

/** The epochs since the latest trusted waypoint; all epochs if the network is not known yet. */
function endingsNeeded(
  entries: readonly EpochEndingEntry[],
  { unsigned, verify, waypoints = [], network }: SourceOptions,
  lastVersion: bigint,
): number {
  if (unsigned || verify === false) return 0
  const trusted = (waypoints.length > 0 ? waypoints : (network?.waypoints ?? [])).map(versionOfWaypoint)
  const from = trusted.filter((version) => version <= lastVersion).reduce((a, b) => (a > b ? a : b), 0n)
  const needed = entries.filter((entry) => entry.lastVersion >= from && entry.firstVersion <= lastVersion)
  return needed.reduce((sum, { firstEpoch, lastEpoch }) => sum + Number(lastEpoch - firstEpoch) + 1, 0)
}
