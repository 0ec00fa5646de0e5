import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderNow } from '@ledger-state/core/files'
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
  usedAt: number
}

/** Keeps snapshots of a store on disk while replicas fetch them. They take up to twice the space of the store. */
export class SnapshotShelf {
  readonly #engine: LmdbEngineReader
  readonly #root: string
  readonly #shelved = new Map<string, Shelved>()
  readonly #sweep = setInterval(() => this.#removeUnused(), KEPT_MS / 10).unref()
  #taking: Promise<Snapshot> | undefined
  #isClosed = false

  /**
   * Makes an empty shelf.
   * @param root folder on a disk with room for a copy of the store; files of an earlier process are removed from it
   */
  constructor(engine: LmdbEngineReader, root: string) {
    this.#engine = engine
    this.#root = root
    makeFolderNow(root)
    for (const name of readdirSync(root)) if (name.startsWith(PREFIX)) removeFolder(join(root, name))
  }

  /** Returns a fresh snapshot, which callers at the same time share. @throws `store_full` */
  async take(): Promise<Snapshot> {
    if (this.#isClosed) throw storeClosed()
    const fresh = [...this.#shelved.values()].find(({ takenAt }) => Date.now() - takenAt < FRESH_MS)
    if (fresh) return fresh.snapshot
    this.#taking ??= this.#takeNew().finally(() => {
      this.#taking = undefined
    })
    return await this.#taking
  }

  find(id: string): Snapshot | undefined {
    return this.#use(id)?.snapshot
  }

  /** Path of a file of a snapshot; undefined if there is none. */
  fileOf(id: string, name: string): string | undefined {
    const shelved = this.#use(id)
    return shelved?.snapshot.files.some((file) => file.name === name) ? join(shelved.folder, name) : undefined
  }

  /** Removes all snapshots. Resolves once one that is being taken is removed, too. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#sweep)
    await this.#taking?.catch(() => {})
    for (const { folder } of this.#shelved.values()) removeFolder(folder)
    this.#shelved.clear()
  }

  #use(id: string): Shelved | undefined {
    const shelved = this.#shelved.get(id)
    if (shelved) shelved.usedAt = Date.now()
    return shelved
  }

  async #takeNew(): Promise<Snapshot> {
    this.#removeUnused()
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
      removeFolder(folder)
      throw error
    }
    const snapshot = { id, pieceBytes: PIECE_BYTES, files }
    this.#shelved.set(id, { snapshot, folder, takenAt: Date.now(), usedAt: Date.now() })
    return snapshot
  }

  #removeUnused(): void {
    for (const [id, { folder, usedAt }] of this.#shelved) {
      if (Date.now() - usedAt < KEPT_MS) continue
      this.#shelved.delete(id)
      removeFolder(folder)
    }
  }
}

function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true })
}
