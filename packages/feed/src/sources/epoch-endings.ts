import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { atPlace, epochsMissing } from '../errors.js'
import { type EpochEndingEntry, readManifest, resolveBackupFile } from '../files/backup-directory.js'
import { atRecord } from '../files/backup-place.js'
import { readRecords } from '../files/record-file.js'
import type { EpochHistory } from '../signatures/epoch-history.js'
import { readLedgerInfo, type SignedLedgerInfo } from '../wire/ledger-info.js'

/** Endings whose signatures are checked together: more bring hardly anything. */
const BATCH = 64

interface PlacedEnding {
  readonly info: SignedLedgerInfo
  readonly place: string
}

/** The ledger infos that end epochs, in a backup. */
export interface EpochEndings {
  /**
   * Has a history believe endings, from the one that it can begin with, until it knows the validators of an epoch. Endings
   * that come before a trusted waypoint are passed over.
   * @throws `untrusted`, also where endings are missing; `invalid_backup` naming file and record
   */
  advance(history: EpochHistory, epoch: bigint): Promise<void>
}

/** @param entries endings that the metadata of the backup in `root` lists, in ascending order */
export function createEpochEndings(root: string, entries: readonly EpochEndingEntry[]): EpochEndings {
  return {
    async advance(history, epoch) {
      let batch: PlacedEnding[] = []
      for await (const ending of readEndings(root, entries, history)) {
        if (history.epoch !== undefined && history.epoch >= epoch) return
        if (ending.info.epoch >= epoch) break
        batch.push(ending)
        if (batch.length === BATCH) {
          believe(history, batch)
          batch = []
        }
      }
      believe(history, batch)
      if (history.epoch === undefined || history.epoch < epoch) throw epochsMissing(root, history.epoch, epoch)
    },
  }
}

/** Endings from the one that the history can believe next. */
async function* readEndings(
  root: string,
  entries: readonly EpochEndingEntry[],
  history: EpochHistory,
): AsyncGenerator<PlacedEnding> {
  /** The epoch whose ending is wanted next; unknown before a trusted waypoint was found. */
  let next = history.epoch
  for (const entry of entries) {
    if (next !== undefined && entry.lastEpoch < next) continue
    const manifest = await readManifest(root, entry.manifest)
    for (const member of manifest.list('chunks')) {
      const [first, last] = [member.version('first_epoch'), member.version('last_epoch')]
      if (next !== undefined && last < next) continue
      const path = resolveBackupFile(root, member.text('ledger_infos'))
      let at = 0
      for await (const records of readRecords(path)) {
        for (const bytes of records) {
          const record = at++
          const info = atRecord(path, record, undefined, () => readLedgerInfo(new ByteReader(bytes)))
          // The manifest says which epochs these are, so a record of another one is out of order.
          if (next === undefined ? !history.hasWaypointAt(info.version) : first + BigInt(record) < next) continue
          next = first + BigInt(record) + 1n
          yield { info, place: `${path}, record ${record}` }
        }
      }
    }
  }
}

function believe(history: EpochHistory, endings: readonly PlacedEnding[]): void {
  try {
    history.believe(endings.map(({ info }) => info))
  } catch (error) {
    if (!isLedgerStateError(error)) throw error
    const at = endings.find(({ info }) => info.epoch === error.fields.epoch)
    throw at ? atPlace(error, at.place, 'invalid_backup') : error
  }
}
