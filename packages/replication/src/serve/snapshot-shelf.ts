import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderNow, removeIfPossible } from '@ledger-state/core/files'
import { branchOf } from '@ledger-state/engine'
import { storeClosed } from '@ledger-state/engine/authoring'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import { describeFile, PIECE_BYTES, type Snapshot, type SnapshotFile } from '../snapshot-manifest.js'

const PREFIX = 'snapshot-'
/** Time after which a snapshot is removed if nobody has fetched from it. */
const KEPT_MS = 10 * 60_000
/** Age up to which a snapshot is also given to the next replica. */
const FRESH_MS = 60_000

interface Shelved {
  readonly snapshot: Snapshot
  readonly folder: string
  readonly takenAt: number
  /** Branch of the ledger before the snapshot was taken. */
  readonly branch: number
  usedAt: number
}

/**
 * Keeps snapshots of a store on disk while replicas fetch them. They take up to twice the space of the store. After a
 * truncation those from before it are gone.
 */
export class SnapshotShelf {
  readonly #engine: LmdbEngineReader
  readonly #root: string
  readonly #shelved = new Map<string, Shelved>()
  /** Folders that nobody is given any more, until they are removed. */
  readonly #unwanted = new Set<string>()
  readonly #sweep = setInterval(() => this.#remove(isUnused), KEPT_MS / 10).unref()
  #taking: Promise<Shelved> | undefined
  #isClosed = false

  /**
   * Makes an empty shelf.
   * @param root folder on a disk with room for a copy of the store; files of an earlier process are removed from it
   */
  constructor(engine: LmdbEngineReader, root: string) {
    this.#engine = engine
    this.#root = root
    makeFolderNow(root)
    for (const name of readdirSync(root)) if (name.startsWith(PREFIX)) this.#unwanted.add(join(root, name))
    this.#removeUnwanted()
  }

  /** Returns a fresh snapshot, which callers at the same time share. @throws `store_full` */
  async take(): Promise<Snapshot> {
    if (this.#isClosed) throw storeClosed()
    const fresh = [...this.#shelved.values()].find(
      (one) => this.#isCurrent(one) && performance.now() - one.takenAt < FRESH_MS,
    )
    if (fresh) return fresh.snapshot
    this.#taking ??= this.#takeNew().finally(() => {
      this.#taking = undefined
    })
    const taken = await this.#taking
    return this.#isCurrent(taken) ? taken.snapshot : await this.take()
  }

  find(id: string): Snapshot | undefined {
    return this.#use(id)?.snapshot
  }

  /** Path of a file of a snapshot; undefined if there is none. */
  fileOf(id: string, name: string): string | undefined {
    const shelved = this.#use(id)
    return shelved?.snapshot.files.some((file) => file.name === name) ? join(shelved.folder, name) : undefined
  }

  /** Notes that a replica is fetching from a snapshot. A file may take longer than an unused snapshot is kept. */
  noteFetch(id: string): void {
    const shelved = this.#shelved.get(id)
    if (shelved) shelved.usedAt = performance.now()
  }

  /** Removes all snapshots. Resolves once one that is being taken is removed, too. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#sweep)
    await this.#taking?.catch(() => {})
    this.#remove(() => true)
  }

  #use(id: string): Shelved | undefined {
    const shelved = this.#shelved.get(id)
    if (!shelved || !this.#isCurrent(shelved)) return undefined
    shelved.usedAt = performance.now()
    return shelved
  }

  /** Whether nothing was cut off since a snapshot was taken. */
  #isCurrent({ branch }: Shelved): boolean {
    return branch === this.#branch
  }

  get #branch(): number {
    return branchOf(this.#engine.ledger!)
  }

  async #takeNew(): Promise<Shelved> {
    this.#remove((one) => isUnused(one) || !this.#isCurrent(one))
    const branch = this.#branch
    const id = randomUUID()
    const folder = join(this.#root, PREFIX + id)
    const files: SnapshotFile[] = []
    try {
      await this.#engine.snapshot(folder, { compact: true })
      for (const name of readdirSync(folder)) {
        if (this.#isClosed) throw storeClosed()
        files.push(await describeFile(join(folder, name)))
      }
    } catch (error) {
      this.#unwanted.add(folder)
      this.#removeUnwanted()
      throw error
    }
    const snapshot = { id, pieceBytes: PIECE_BYTES, files }
    const shelved = { snapshot, folder, branch, takenAt: performance.now(), usedAt: performance.now() }
    this.#shelved.set(id, shelved)
    return shelved
  }

  #remove(isGone: (shelved: Shelved) => boolean): void {
    for (const [id, shelved] of this.#shelved) {
      if (!isGone(shelved)) continue
      this.#shelved.delete(id)
      this.#unwanted.add(shelved.folder)
    }
    this.#removeUnwanted()
  }

  /** Removes folders. A folder that cannot be removed now is removed the next time. */
  #removeUnwanted(): void {
    for (const folder of this.#unwanted) {
      removeIfPossible(folder)
      if (!existsSync(folder)) this.#unwanted.delete(folder)
    }
  }
}

function isUnused({ usedAt }: Shelved): boolean {
  return performance.now() - usedAt >= KEPT_MS
}
