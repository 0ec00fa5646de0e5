import { ByteReader, Lazy } from '@ledger-state/core'
import { readLedgerInfo } from '@ledger-state/proof'
import { backupAfterTime, invalidArgument, invalidBackup } from '../errors.js'
import { readManifest, resolveBackupFile } from '../files/backup-directory.js'
import type { EpochEndingEntry } from '../files/backup-entries.js'
import { atRecord } from '../files/backup-place.js'
import type { BackupStorage } from '../files/backup-storage.js'
import { readRecords } from '../files/record-file.js'

/**
 * An epoch change, by its ledger info. The info is not checked: it only chooses the data to read, and that data is
 * proven.
 */
interface EpochEnd {
  readonly version: bigint
  readonly timeUsec: bigint
}

const USEC_PER_DAY = 86_400_000_000n

/** Time by which the clock of another machine may be ahead. */
const CLOCK_TOLERANCE_USEC = 3_600_000_000n

/**
 * Finds versions by time. A backup has times only for the ends of its epochs. A binary search over them reads about 14.
 */
export class EpochTimes {
  readonly #storage: BackupStorage
  readonly #entries: readonly EpochEndingEntry[]
  readonly #nowUsec: bigint
  readonly #ends: readonly Lazy<readonly EpochEnd[]>[]

  /** @param nowUsec time of this machine's clock, in microseconds */
  constructor(storage: BackupStorage, entries: readonly EpochEndingEntry[], nowUsec: bigint) {
    this.#storage = storage
    this.#entries = entries
    this.#nowUsec = nowUsec
    this.#ends = entries.map((entry) => new Lazy(() => readEnds(storage, entry)))
  }

  /**
   * The version with which the last epoch ended at or before a time.
   * @throws `invalid_argument` if the time is in the future, before the backup, or more than a day after it, or if the
   * backup is newer than this machine's clock; `invalid_backup`
   */
  async lastEndAtOrBefore(timeUsec: bigint): Promise<bigint> {
    if (timeUsec > this.#nowUsec) throw invalidArgument.timeInFuture(timeUsec, this.#nowUsec)
    const { root } = this.#storage
    const { end, next } = await this.#search(timeUsec)
    const newest = (await this.#endsOf(this.#entries.length - 1)).at(-1)
    const isBehind = newest !== undefined && newest.timeUsec > this.#nowUsec + CLOCK_TOLERANCE_USEC
    const isOver = newest !== undefined && timeUsec > newest.timeUsec + USEC_PER_DAY
    if (isBehind || isOver) throw invalidArgument.timeBesideBackup(root, timeUsec, newest.timeUsec, this.#nowUsec)
    if (!end) throw backupAfterTime(root, timeUsec, next?.timeUsec)
    return end.version
  }

  /**
   * The version with which the first epoch ended at or after a time; undefined if none has.
   * @throws `invalid_backup`
   */
  async firstEndAtOrAfter(timeUsec: bigint): Promise<bigint | undefined> {
    const { end, next } = await this.#search(timeUsec)
    return end?.timeUsec === timeUsec ? end.version : next?.version
  }

  /**
   * The time of a version with which an epoch ended; undefined for other versions.
   * @throws `invalid_backup`
   */
  async timeOfEnd(version: bigint): Promise<bigint | undefined> {
    const at = this.#entries.findIndex((entry) => entry.firstVersion <= version && version <= entry.lastVersion)
    return at < 0 ? undefined : (await this.#endsOf(at)).find((end) => end.version === version)?.timeUsec
  }

  /** The last end at or before a time, and the next one. */
  async #search(
    timeUsec: bigint,
  ): Promise<{ readonly end: EpochEnd | undefined; readonly next: EpochEnd | undefined }> {
    if (this.#entries.length === 0) throw invalidArgument.withoutTimes(this.#storage.root)
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const [first] = await this.#endsOf(middle)
      if (first && first.timeUsec <= timeUsec) low = middle + 1
      else high = middle
    }
    const ends = low === 0 ? [] : await this.#endsOf(low - 1)
    const at = ends.findLastIndex((end) => end.timeUsec <= timeUsec)
    const next = ends[at + 1] ?? (low < this.#entries.length ? (await this.#endsOf(low))[0] : undefined)
    return { end: ends[at], next }
  }

  async #endsOf(at: number): Promise<readonly EpochEnd[]> {
    return await this.#ends[at]!.get()
  }
}

/** Most ends of an entry, which are held in memory. A network has tens of thousands in its whole history. */
const MOST_ENDS = 1_000_000

async function readEnds(storage: BackupStorage, entry: EpochEndingEntry): Promise<EpochEnd[]> {
  const listed = Number(entry.lastEpoch - entry.firstEpoch) + 1
  const most = Math.min(listed, MOST_ENDS)
  const manifest = await readManifest(storage, entry.manifest)
  const ends: EpochEnd[] = []
  for (const member of manifest.list('chunks')) {
    const path = await resolveBackupFile(storage, member.fileName('ledger_infos'))
    for await (const records of readRecords(path)) {
      for (const record of records) {
        const info = atRecord(path, ends.length, undefined, () => readLedgerInfo(new ByteReader(record)))
        if (ends.length === most) throw invalidBackup.tooManyEndings(manifest.place, most)
        const before = ends.at(-1)
        if (before && info.version <= before.version) throw invalidBackup.endingsOutOfOrder(path, before.version)
        ends.push({ version: info.version, timeUsec: info.timestampUsec })
      }
    }
    await storage.release(path)
  }
  return ends
}
