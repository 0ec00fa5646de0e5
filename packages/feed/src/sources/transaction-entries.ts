import { partitionPoint } from '@ledger-state/core'
import type { TransactionBackupEntry } from '../files/backup-entries.js'

/** The ranges of transactions that a backup lists, found by version. Ranges overlap while a backup is compacted. */
export class TransactionEntries {
  /** Entries in ascending order of their first versions. */
  readonly all: readonly TransactionBackupEntry[]
  /** For each entry, the one up to it that reaches furthest. */
  readonly #furthest: readonly TransactionBackupEntry[]

  /** @param entries at least one, in ascending order of their first versions */
  constructor(entries: readonly TransactionBackupEntry[]) {
    this.all = entries
    let furthest = entries[0]!
    this.#furthest = entries.map((entry) => {
      if (entry.lastVersion > furthest.lastVersion) furthest = entry
      return furthest
    })
  }

  get firstVersion(): bigint {
    return this.all[0]!.firstVersion
  }

  get lastVersion(): bigint {
    return this.#furthest.at(-1)!.lastVersion
  }

  /** The entry that holds a version and reaches furthest. */
  holding(version: bigint): TransactionBackupEntry | undefined {
    const furthest = this.#furthest[this.#begunBy(version) - 1]
    return furthest && furthest.lastVersion >= version ? furthest : undefined
  }

  /** The first entry that begins after a version. */
  after(version: bigint): TransactionBackupEntry | undefined {
    return this.all[this.#begunBy(version)]
  }

  /** Number of entries that begin at or before a version. */
  #begunBy(version: bigint): number {
    return partitionPoint(this.all, ({ firstVersion }) => firstVersion <= version)
  }
}
