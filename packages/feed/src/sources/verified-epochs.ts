import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import {
  computeWaypoint,
  ENDING_BYTES_AT_ONCE,
  ENDINGS_AT_ONCE,
  EpochChangeVerifier,
  type LedgerHasher,
  readLedgerInfo,
  type SignedLedgerInfo,
  type SignedPower,
  versionOfWaypoint,
} from '@ledger-state/proof'
import type { TrustedState } from '@ledger-state/records'
import { type PackedEpochChange, packEnding } from '@ledger-state/records/epoch-change'
import { pMapIterable } from 'p-map'
import { atPlace, epochsMissing, invalidBackup, noTrustedEnding, verificationFailed } from '../errors.js'
import {
  type ManifestMembers,
  OBJECTS_AT_ONCE,
  readBackupMetadata,
  readManifest,
  readManifests,
  resolveBackupFile,
} from '../files/backup-directory.js'
import type { EpochEndingEntry } from '../files/backup-entries.js'
import { atFile, atRecord } from '../files/backup-place.js'
import type { BackupStorage } from '../files/backup-storage.js'
import { readRecords } from '../files/record-file.js'
import { loadBls } from '../signatures/load-bls.js'
import type { SignedVersion } from './trusted-state.js'

interface PlacedEnding {
  readonly info: SignedLedgerInfo
  /** BCS that `info` was read from. */
  readonly bytes: Uint8Array
  readonly place: string
  readonly manifest: string
  /**
   * The waypoint that the manifest lists for it. It is not trusted; it shows the content of the backup when it was
   * made.
   */
  readonly listed: string | undefined
}

interface VerifiedEpochChange {
  readonly ending: PlacedEnding
  readonly power: SignedPower | undefined
}

/**
 * The epochs of a backup with validators that follow from trusted waypoints. It reads each epoch change once, and only
 * when a ledger info needs it. Callers must therefore ask about ledger infos in the order of their epochs.
 */
export class VerifiedEpochs {
  readonly #storage: BackupStorage
  readonly #entries: readonly EpochEndingEntry[]
  readonly #hasher: LedgerHasher
  readonly #history: EpochChangeVerifier
  readonly #waypoints: readonly string[]
  /** The waypoint at which the reading of endings began; undefined while only a ledger info with a waypoint was checked. */
  #began: string | undefined
  #endings: AsyncGenerator<PlacedEnding> | undefined
  /** An ending that was read and is not needed yet. */
  #ahead: PlacedEnding | undefined
  #packed: PackedEpochChange[] = []
  /** The newest ending that was packed. */
  #lastPacked: PlacedEnding | undefined

  /**
   * Opens the epochs of a backup.
   * @param waypoints at least one, each `version:hash`
   * @throws `invalid_argument`, `invalid_backup`
   */
  static async open(
    storage: BackupStorage,
    hasher: LedgerHasher,
    waypoints: readonly string[],
  ): Promise<VerifiedEpochs> {
    const { endings } = await readBackupMetadata(storage)
    const bls = await loadBls()
    return new VerifiedEpochs(storage, endings, hasher, new EpochChangeVerifier(hasher, bls, waypoints), waypoints)
  }

  /** The waypoint of the first ending in a backup, for people to compare; undefined if it has none. */
  static async firstWaypoint(storage: BackupStorage, hasher: LedgerHasher): Promise<string | undefined> {
    const { endings } = await readBackupMetadata(storage)
    for await (const { info } of readEndings(storage, endings, undefined)) return computeWaypoint(hasher, info)
    return undefined
  }

  private constructor(
    storage: BackupStorage,
    entries: readonly EpochEndingEntry[],
    hasher: LedgerHasher,
    history: EpochChangeVerifier,
    waypoints: readonly string[],
  ) {
    this.#storage = storage
    this.#entries = entries
    this.#hasher = hasher
    this.#history = history
    this.#waypoints = waypoints
  }

  /**
   * Checks that a ledger info has a trusted waypoint, or that a quorum of validators signed it who follow from one.
   * @param path the file of the ledger info, for messages
   * @throws `untrusted`; `invalid_backup` naming file and record of an ending that does not parse
   */
  async expectSigned(path: string, info: SignedLedgerInfo): Promise<TrustedState> {
    if (!this.#history.hasWaypointAt(info.version)) await this.#advance(info)
    const power = atFile(path, `the ledger info of version ${info.version}`, () => this.#history.expectSigned(info))
    const waypoint = this.#began ?? this.#waypointAt(info.version)
    return { waypoint, ending: this.#history.newestWaypoint ?? waypoint, epoch: info.epoch, power }
  }

  /**
   * Checks all endings of the backup, from the earliest trusted waypoint among them.
   * @returns the trusted state of the newest epoch with known validators
   * @throws as `expectSigned`
   */
  async verifyAll(): Promise<TrustedState> {
    const earliest = [...this.#waypoints].sort((a, b) => (versionOfWaypoint(a) < versionOfWaypoint(b) ? -1 : 1))
    this.#begin(earliest)
    await this.#verifyWhile(() => true)
    const ending = this.#history.newestWaypoint!
    return { waypoint: this.#began!, ending, epoch: this.#history.epoch!, power: undefined }
  }

  /**
   * Checks the endings up to a version. It continues after the last checked ending or, at first, at the latest waypoint
   * that is early enough.
   * @param above version above which endings are yielded, each with its trusted state
   * @throws as `expectSigned`
   */
  async *verifyUpTo(above: bigint, upTo: bigint): AsyncGenerator<SignedVersion> {
    if (this.#history.epoch === undefined) this.#begin(this.#latestFirst((version) => version <= upTo))
    const isWithin = ({ info }: PlacedEnding) => info.version <= upTo
    for await (const { ending, power } of this.#verifying(isWithin)) {
      const { epoch, version, accumulatorRoot } = ending.info
      if (version <= above) continue
      const trustedState = { waypoint: this.#began!, ending: this.#history.newestWaypoint!, epoch, power }
      yield { version, accumulatorRoot, trustedState }
    }
  }

  /** The endings that were checked since the last call, in order, for a store to keep. */
  takeEndings(): readonly PackedEpochChange[] {
    const taken = this.#packed
    this.#packed = []
    return taken
  }

  /** Reads and checks endings until the validators of a ledger info's epoch are known. */
  async #advance({ epoch, version }: SignedLedgerInfo): Promise<void> {
    if (this.#history.epoch === undefined) {
      this.#begin(this.#latestFirst((candidate) => candidate < version))
    }
    await this.#verifyWhile((ending) => ending.info.epoch < epoch)
    const known = this.#history.epoch
    if (known === undefined || known < epoch) throw epochsMissing(this.#storage.root, known, epoch)
  }

  /** The waypoints that are early enough, the latest first, because that one needs the fewest signatures checked. */
  #latestFirst(isEarlyEnough: (version: bigint) => boolean): string[] {
    const candidates = this.#waypoints.filter((waypoint) => isEarlyEnough(versionOfWaypoint(waypoint)))
    return candidates.sort((a, b) => (versionOfWaypoint(a) > versionOfWaypoint(b) ? -1 : 1))
  }

  /** Begins to read endings at the first waypoint for which the backup has an ending. */
  #begin(candidates: readonly string[]): void {
    for (const waypoint of candidates) {
      const version = versionOfWaypoint(waypoint)
      const at = this.#entries.findIndex((entry) => entry.firstVersion <= version && version <= entry.lastVersion)
      if (at < 0) continue
      this.#began = waypoint
      this.#endings = readEndings(this.#storage, this.#entries.slice(at), version)
      return
    }
    throw noTrustedEnding(this.#storage.root, this.#waypoints)
  }

  async #verifyWhile(isNeeded: (ending: PlacedEnding) => boolean): Promise<void> {
    for await (const _ of this.#verifying(isNeeded));
  }

  /** Checks endings for as long as they are needed. */
  async *#verifying(isNeeded: (ending: PlacedEnding) => boolean): AsyncGenerator<VerifiedEpochChange> {
    let batch: PlacedEnding[] = []
    let bytes = 0
    for (;;) {
      this.#ahead ??= (await this.#endings?.next())?.value ?? undefined
      if (!this.#ahead || !isNeeded(this.#ahead)) break
      batch.push(this.#ahead)
      bytes += this.#ahead.bytes.length
      this.#ahead = undefined
      if (batch.length === ENDINGS_AT_ONCE || bytes > ENDING_BYTES_AT_ONCE) {
        yield* this.#verify(batch)
        batch = []
        bytes = 0
      }
    }
    yield* this.#verify(batch)
  }

  #verify(endings: readonly PlacedEnding[]): VerifiedEpochChange[] {
    try {
      const powers = this.#history.verify(endings.map(({ info }) => info))
      for (const ending of endings) this.#expectListed(ending)
      for (const ending of endings) this.#pack(ending)
      return endings.map((ending, at) => ({ ending, power: powers[at] }))
    } catch (error) {
      if (!isLedgerStateError(error, 'untrusted', 'verification_failed')) throw error
      const at = endings.find(({ info }) => info.epoch === error.fields.epoch)
      throw at ? atPlace(error, at.place, 'invalid_backup') : error
    }
  }

  /**
   * Compares an ending with the waypoint that its manifest lists. This comes after the check of signatures, because an
   * error of that check says more.
   */
  #expectListed({ info, manifest, listed }: PlacedEnding): void {
    if (listed === undefined) return
    const found = computeWaypoint(this.#hasher, info)
    if (listed !== found) throw verificationFailed.otherListedWaypoint(manifest, info.epoch, listed, found)
  }

  /** Closes the file of the ending that comes next. */
  async close(): Promise<void> {
    await this.#endings?.return(undefined)
  }

  #pack(ending: PlacedEnding): void {
    const { epoch } = ending.info
    const before = this.#lastPacked?.info.epoch === epoch - 1n ? this.#lastPacked.bytes : undefined
    this.#packed.push(packEnding(epoch, ending.bytes, before))
    this.#lastPacked = ending
  }

  #waypointAt(version: bigint): string {
    return this.#waypoints.find((waypoint) => versionOfWaypoint(waypoint) === version)!
  }
}

/** The epoch changes that entries of a backup list, starting with the one at a version, or with the first. */
async function* readEndings(
  storage: BackupStorage,
  entries: readonly EpochEndingEntry[],
  from: bigint | undefined,
): AsyncGenerator<PlacedEnding, undefined> {
  /** The epoch of the next epoch change. Entries may overlap while a backup is compacted. */
  let next: bigint | undefined
  for await (const { entry, small } of pMapIterable(
    listEntries(storage, entries),
    (found) => locateFirst(storage, found),
    {
      concurrency: OBJECTS_AT_ONCE,
    },
  )) {
    if (next === undefined && from !== undefined && entry.firstVersion > from) return undefined
    if (next !== undefined && entry.lastEpoch < next) continue
    const manifest = small ?? (await readManifest(storage, entry.manifest))
    const members = manifest.list('chunks')
    const waypoints = manifest.optionalTexts('waypoints')
    for (const member of members) {
      const [first, last] = [member.version('first_epoch'), member.version('last_epoch')]
      if (next !== undefined && last < next) continue
      const path = await resolveBackupFile(storage, member.fileName('ledger_infos'))
      let at = 0
      for await (const records of readRecords(path)) {
        for (const bytes of records) {
          const record = at++
          const info = atRecord(path, record, undefined, () => readLedgerInfo(new ByteReader(bytes)))
          if (next === undefined ? from !== undefined && info.version !== from : first + BigInt(record) < next) continue
          next = first + BigInt(record) + 1n
          const listed = waypoints?.[Number(first - entry.firstEpoch) + record]
          yield { info, bytes, place: `${path}, record ${record}`, manifest: manifest.place, listed }
        }
      }
      await storage.release(path)
    }
    // A hostile backup may name one manifest in 100,000 entries. Each entry must go on where the one before ended.
    if (next !== undefined && next <= entry.lastEpoch) throw invalidBackup.missingEndings(manifest.place, next, entry)
    await storage.keepEndings?.(entry)
  }
  return undefined
}

/** Most bytes of a manifest that is kept until its turn; a manifest of one epoch has about 300. */
const SMALL_MANIFEST_BYTES = 64 * 1024

interface ListedEntry {
  readonly entry: EpochEndingEntry
  /** The manifest, if it is small. */
  readonly small: ManifestMembers | undefined
  /** Name of the object of the first chunk. */
  readonly first: string | undefined
}

async function* listEntries(
  storage: BackupStorage,
  entries: readonly EpochEndingEntry[],
): AsyncGenerator<ListedEntry, void> {
  for await (const { entry, manifest } of readManifests(storage, entries)) {
    const small = manifest.bytes <= SMALL_MANIFEST_BYTES ? manifest : undefined
    yield { entry, small, first: manifest.list('chunks')[0]?.fileName('ledger_infos') }
  }
}

/** Fetches the first object of an entry. If there is none, this is reported in its turn. */
async function locateFirst(storage: BackupStorage, found: ListedEntry): Promise<ListedEntry> {
  if (found.first !== undefined) await resolveBackupFile(storage, found.first).catch(() => {})
  return found
}
