import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import { FETCH_ENCODINGS } from '@ledger-state/feed'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { fetchFailed, fileOfOtherLength, notAFeed, snapshotDamaged, snapshotRefused } from './errors.js'
import type { Snapshot } from './snapshot-shelf.js'

const UNFINISHED = 'snapshot.unfinished'
const MANIFEST = 'snapshot.json'
/** Failures in succession, without a byte received between them, before it gives up. */
const ATTEMPTS = 8
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/** Who is told how far a snapshot was fetched, and how it is stopped. */
export interface FetchSnapshotOptions {
  /** Stops between two pieces; the next call resumes. */
  readonly signal?: AbortSignal | undefined
  /** Called with the bytes that are there, and those of the whole snapshot. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  /** Called when all is there and is being checked, with the records checked so far. */
  readonly onCheck?: ((records: number) => void) | undefined
  /** Receives one line for people. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/**
 * Fetches a snapshot of another node's store into a folder without one, checks it, and puts it in place: whatever happens,
 * the folder has a whole and sound store or none. A call that was cut short is resumed by the next, while the source keeps
 * the snapshot (ten minutes after it was last asked for). Answers whether it is in place: false where the signal stopped it.
 * @param url that the other node serves its feed on
 * @throws `source_failed`; `store_corrupt` where the snapshot does not pass the check; errors of the system, such as a full
 *   disk
 */
export async function fetchSnapshot(url: string, path: string, options: FetchSnapshotOptions = {}): Promise<boolean> {
  return await new SnapshotFetch(url.replace(/\/+$/, ''), path, options).run()
}

class SnapshotFetch {
  readonly #url: string
  readonly #path: string
  readonly #folder: string
  readonly #options: FetchSnapshotOptions

  constructor(url: string, path: string, options: FetchSnapshotOptions) {
    this.#url = url
    this.#path = path
    this.#folder = join(path, UNFINISHED)
    this.#options = options
  }

  async run(): Promise<boolean> {
    const { signal } = this.#options
    const snapshot = await this.#begin()
    const total = snapshot.files.reduce((sum, { bytes }) => sum + bytes, 0)
    let before = 0
    for (const file of snapshot.files) {
      await this.#fetchFile(snapshot.id, file, (bytes) => this.#options.onProgress?.(before + bytes, total))
      if (signal?.aborted) return false
      before += file.bytes
    }
    await this.#expectSound()
    this.#putInPlace(snapshot)
    return true
  }

  /** The snapshot of an earlier call, if it is still there, or a new one. */
  async #begin(): Promise<Snapshot> {
    const index = (await this.#askJson('')) as { readonly format?: unknown }
    if (index.format !== 'ledger-feed') throw notAFeed(this.#url, JSON.stringify(index).slice(0, 100))
    const manifest = join(this.#folder, MANIFEST)
    if (existsSync(manifest)) {
      const { id } = JSON.parse(readFileSync(manifest, 'utf8')) as Snapshot
      const response = await this.#ask(`/snapshots/${id}`)
      if (response.status === 200) return (await response.json()) as Snapshot
      this.#options.onNotice?.(`${this.#url} no longer has the snapshot that was begun; another one is fetched`)
    }
    rmSync(this.#folder, { recursive: true, force: true })
    mkdirSync(this.#folder, { recursive: true })
    const snapshot = (await this.#askJson('/snapshots', 'POST')) as Snapshot
    writeFileSync(manifest, JSON.stringify(snapshot))
    return snapshot
  }

  async #fetchFile(
    id: string,
    { name, bytes }: Snapshot['files'][number],
    onBytes: (bytes: number) => void,
  ): Promise<void> {
    const { signal } = this.#options
    const path = join(this.#folder, name)
    for (let failures = 0; ; ) {
      const had = sizeOf(path)
      if (had > bytes) throw fileOfOtherLength(`${this.#url}/snapshots/${id}/${name}`, had, bytes)
      if ((had === bytes && existsSync(path)) || signal?.aborted) return
      try {
        await this.#append(path, `/snapshots/${id}/${name}?offset=${had}`, had, onBytes)
      } catch (error) {
        if (signal?.aborted) return
        if (isLedgerStateError(error) || isDiskError(error)) throw error
        failures = sizeOf(path) > had ? 1 : failures + 1
        const why = (error as Error).message
        if (failures >= ATTEMPTS) throw fetchFailed(this.#url, failures, why)
        await this.#pauseAfter(failures, why)
      }
    }
  }

  async #append(path: string, from: string, had: number, onBytes: (bytes: number) => void): Promise<void> {
    const response = await this.#ask(from)
    if (response.status !== 200) throw snapshotRefused(this.#url + from, response.status, await response.text())
    const file = await open(path, 'a')
    let length = had
    try {
      for await (const piece of response.body ?? []) {
        await file.write(piece)
        length += piece.length
        onBytes(length)
      }
      await file.sync()
    } finally {
      await file.close()
    }
  }

  async #expectSound(): Promise<void> {
    const engine = openStateEngineReader({ path: this.#folder, readAhead: true })
    try {
      const { problems } = await engine.check({ onProgress: (records) => this.#options.onCheck?.(records) })
      if (problems.length === 0) return
      throw snapshotDamaged(this.#url, problems.slice(0, 3))
    } catch (error) {
      // What is there cannot be resumed.
      rmSync(join(this.#folder, MANIFEST), { force: true })
      throw error
    } finally {
      await engine.close()
    }
  }

  /** The data file last: without it there is no store. */
  #putInPlace({ files }: Snapshot): void {
    const names = files
      .map(({ name }) => name)
      .toSorted((a, b) => Number(a.endsWith('.mdb')) - Number(b.endsWith('.mdb')))
    for (const name of names) renameSync(join(this.#folder, name), join(this.#path, name))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #askJson(path: string, method = 'GET'): Promise<unknown> {
    const response = await this.#ask(path, method)
    const text = await response.text()
    if (!response.ok) throw snapshotRefused(this.#url + path, response.status, text.slice(0, 200))
    try {
      return JSON.parse(text)
    } catch {
      throw notAFeed(this.#url, text.slice(0, 100))
    }
  }

  /** Asks again where the source is not reached, or is too busy. */
  async #ask(path: string, method = 'GET'): Promise<Response> {
    const { signal } = this.#options
    const url = path === '' ? `${this.#url}/` : this.#url + path
    for (let failures = 1; ; failures++) {
      const outcome = await request(url, method, signal)
      if (outcome instanceof Response) return outcome
      if (signal?.aborted || failures >= ATTEMPTS) throw fetchFailed(url, failures, outcome.message)
      await this.#pauseAfter(failures, outcome.message)
    }
  }

  async #pauseAfter(failures: number, why: string): Promise<void> {
    const { signal, onNotice } = this.#options
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
    onNotice?.(`${this.#url}: ${why}; resuming in ${pause / 1_000} s`)
    await sleep(pause, undefined, signal && { signal }).catch(() => {})
  }
}

/** An answer, or why there is none. */
async function request(url: string, method: string, signal: AbortSignal | undefined): Promise<Response | Error> {
  try {
    const response = await fetch(url, {
      method,
      headers: { 'accept-encoding': FETCH_ENCODINGS },
      ...(signal && { signal }),
    })
    return response.status === 503 ? new Error(`status 503, ${await response.text()}`) : response
  } catch (error) {
    const { message, cause } = error as Error
    return new Error(cause instanceof Error ? `${message}: ${cause.message}` : message)
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Whether the fault is of this machine's disk, and not of the connection. */
function isDiskError(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EIO', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '')
}
