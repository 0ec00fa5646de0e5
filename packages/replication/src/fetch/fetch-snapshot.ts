import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Backoff, isLedgerStateError, pauseFor } from '@ledger-state/core'
import { isPresent, makeFolderNow, moveDurably, writeDurably } from '@ledger-state/core/files'
import {
  answerText,
  failureOf,
  type HttpAnswer,
  type RequestFailure,
  sendRequest,
  textOfAnswer,
  textOfFailure,
} from '@ledger-state/core/requests'
import { FailureStreak, FETCH_ENCODINGS, tryBoundedJson } from '@ledger-state/feed'
import { openStateEngineReader, STORE_FILE } from '@ledger-state/state-engine'
import { snapshotDamaged, sourceFailed } from '../errors.js'
import { parseSnapshot, type Snapshot, type SnapshotFile } from '../snapshot-manifest.js'
import { VerifiedFile } from './verified-file.js'

const UNFINISHED = 'snapshot.unfinished'
const MANIFEST = 'snapshot.json'
/** Most failures in succession without a byte received between them. After these, the fetch gives up. */
const ATTEMPTS = 8
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** Longest wait for an answer while the source takes a new snapshot of its store. */
const SNAPSHOT_SILENCE_MS = 300_000
/** Most bytes of an index or a manifest; 64 bytes in a manifest describe a piece of a few MiB. */
const MOST_TEXT_BYTES = 64 * 1024 * 1024
/** Limits of these: a value of a manifest has 64 bytes or more. */
const TEXT_LIMITS = { depth: 8, values: 1_200_000 }

/** Stages of a fetch, in their order. `check` is the check of the whole snapshot. */
type Stage = 'index' | 'manifest' | 'files' | 'check'

/** Facts about a snapshot that are known before it is fetched. */
export interface BegunSnapshot {
  readonly bytes: number
  /** Bytes that are yet to be fetched. */
  readonly missing: number
  /** Whether the other node keeps a slice of its ledger. */
  readonly isSlice: boolean
}

/** Callbacks for the progress of a fetch, its first pause after a failure, and a signal that stops it. */
export interface FetchSnapshotOptions {
  /** Stops the fetch between two pieces; the next call resumes it. */
  readonly signal?: AbortSignal | undefined
  /** Called before the first file is fetched or resumed. An error that it throws ends the call. */
  readonly onBegin?: ((begun: BegunSnapshot) => Promise<void>) | undefined
  /** Called with the number of fetched bytes, and the size of the whole snapshot. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  /** Called while the fetched snapshot is checked, with the number of records checked so far. */
  readonly onCheck?: ((records: number) => void) | undefined
  /** Pause after the first failure, 500 ms by default; it doubles with each further failure. */
  readonly firstPauseMs?: number | undefined
  /** Called with one line for people. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/**
 * Fetches a snapshot of another node's store into a folder without one, checks it, and puts it in place: whatever
 * happens, the folder has a whole and sound store or none. A piece with a wrong hash is fetched again; the whole
 * snapshot is fetched again if its check fails. The next call resumes an interrupted fetch, as long as the source keeps
 * the snapshot: ten minutes after the last request for it. Returns whether the store is in place: false if the signal
 * stopped the call.
 * @param url at which the other node serves its feed
 * @throws `source_failed` if three answers in a row cannot be used; `store_corrupt` if three snapshots in a row do not
 *   pass the check; errors of the system, such as a full disk
 */
export async function fetchSnapshot(url: string, path: string, options: FetchSnapshotOptions = {}): Promise<boolean> {
  return await new SnapshotFetch(url.replace(/\/+$/, ''), path, options).run()
}

/** Removes all that a fetch into a folder has left there, after it has put the store in place. */
export function removeFetched(path: string): void {
  rmSync(join(path, UNFINISHED), { recursive: true, force: true })
}

class SnapshotFetch {
  readonly #url: string
  readonly #path: string
  readonly #folder: string
  readonly #options: FetchSnapshotOptions
  /** Consecutive failures of each stage. */
  readonly #streaks: Readonly<Record<Stage, FailureStreak>>
  #stage: Stage = 'index'
  #isSlice = false

  constructor(url: string, path: string, options: FetchSnapshotOptions) {
    this.#url = url
    this.#path = path
    this.#folder = join(path, UNFINISHED)
    this.#options = options
    const { onNotice, firstPauseMs = FIRST_PAUSE_MS } = options
    const streak = () => new FailureStreak({ onNotice, firstPauseMs })
    this.#streaks = { index: streak(), manifest: streak(), files: streak(), check: streak() }
  }

  async run(): Promise<boolean> {
    const { signal } = this.#options
    for (;;) {
      try {
        const snapshot = await this.#begin()
        await this.#options.onBegin?.(this.#begun(snapshot))
        this.#stage = 'files'
        if (!(await this.#fetchFiles(snapshot))) return false
        this.#stage = 'check'
        await this.#expectSound()
        await this.#putInPlace(snapshot)
        return true
      } catch (error) {
        if (signal?.aborted) return false
        if (!isLedgerStateError(error, 'source_failed', 'store_corrupt')) throw error
        await this.#streaks[this.#stage].add(error, signal)
      }
    }
  }

  #begun({ files }: Snapshot): BegunSnapshot {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    const held = files.reduce((sum, { name }) => {
      const path = join(this.#folder, name)
      return sum + (isPresent(path) ? statSync(path).size : 0)
    }, 0)
    return { bytes, missing: Math.max(0, bytes - held), isSlice: this.#isSlice }
  }

  /** Fetches all files. Returns false if the signal stopped it. */
  async #fetchFiles({ id, pieceBytes, files }: Snapshot): Promise<boolean> {
    const { signal, onProgress } = this.#options
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
    let before = 0
    for (const file of files) {
      const start = before
      const onBytes = (bytes: number) => onProgress?.(start + bytes, total)
      await this.#fetchFile(`/snapshots/${id}/${file.name}`, file, pieceBytes, onBytes)
      if (signal?.aborted) return false
      before += file.bytes
    }
    return true
  }

  /** Finds the snapshot of an earlier call if the source still has it; otherwise asks the source to take a new one. */
  async #begin(): Promise<Snapshot> {
    this.#stage = 'index'
    const { status, text, shown } = await this.#askText('', 'GET')
    if (status !== 200) throw sourceFailed.snapshotRefused(this.#url, status, shown)
    const index = tryJson(text) as { readonly format?: unknown; readonly slice?: unknown } | null | undefined
    if (index?.format !== 'ledger-feed') throw sourceFailed.notAFeed(this.#url, shown)
    this.#isSlice = index.slice !== undefined
    this.#streaks.index.end()
    this.#stage = 'manifest'
    const snapshot = await this.#beginSnapshot()
    this.#streaks.manifest.end()
    return snapshot
  }

  async #beginSnapshot(): Promise<Snapshot> {
    const manifest = join(this.#folder, MANIFEST)
    if (isPresent(manifest)) {
      const begun = parseSnapshot(tryJson(readFileSync(manifest, 'utf8')))
      if (begun) await this.#takeBack(begun)
      const kept = begun && (await this.#askManifest(`/snapshots/${begun.id}`))
      if (kept && kept.id === begun.id) return kept
      this.#options.onNotice?.(`${this.#url} no longer has the snapshot that was begun; another one is fetched`)
    }
    rmSync(this.#folder, { recursive: true, force: true })
    makeFolderNow(this.#folder)
    const snapshot = await this.#askManifest('/snapshots', 'POST')
    if (!snapshot) throw sourceFailed.snapshotRefused(`${this.#url}/snapshots`, 404, 'no snapshots there')
    await writeDurably(manifest, JSON.stringify(snapshot))
    return snapshot
  }

  async #fetchFile(
    from: string,
    { name, ...file }: SnapshotFile,
    pieceBytes: number,
    onBytes: (bytes: number) => void,
  ): Promise<void> {
    const { signal } = this.#options
    const target = await VerifiedFile.open(join(this.#folder, name), { name, ...file }, pieceBytes)
    try {
      const backoff = this.#backoff()
      while (!target.isComplete && !signal?.aborted) {
        const had = target.length
        try {
          await this.#append(target, `${from}?offset=${had}`, onBytes)
          if (target.length === had) throw sourceFailed.endedEarly(name, had, file.bytes)
          backoff.reset()
        } catch (error) {
          if (signal?.aborted) return
          if (isLedgerStateError(error) || isDiskError(error)) throw error
          if (target.length > had) backoff.reset()
          await this.#pauseAfter({ url: this.#url, ...failureOf(error) }, backoff)
        }
      }
    } finally {
      await target.close()
    }
  }

  async #append(target: VerifiedFile, from: string, onBytes: (bytes: number) => void): Promise<void> {
    const response = await this.#ask(from, 'GET', async (answer) => answer)
    if (response.status !== 200)
      throw sourceFailed.snapshotRefused(this.#url + from, response.status, await shownText(response))
    for await (const piece of response.pieces()) {
      const { verified } = target
      await target.append(piece)
      if (target.verified > verified) this.#streaks.files.end()
      onBytes(target.length)
      if (target.isComplete) return
    }
  }

  async #expectSound(): Promise<void> {
    try {
      const problems = await this.#problems()
      if (problems.length > 0) throw snapshotDamaged(this.#url, problems.slice(0, 3))
    } catch (error) {
      // Damaged files cannot be resumed. Others are kept: they may be of no use now only because descriptors have run out.
      if (isLedgerStateError(error, 'store_corrupt')) rmSync(this.#folder, { recursive: true, force: true })
      throw error
    }
  }

  async #problems(): Promise<readonly string[]> {
    const engine = openStateEngineReader({ path: this.#folder })
    try {
      return (await engine.check({ onProgress: (records) => this.#options.onCheck?.(records) })).problems
    } finally {
      await engine.close()
    }
  }

  /** Moves the files to their place, the data file last: without it there is no store. */
  async #putInPlace({ files }: Snapshot): Promise<void> {
    const names = files.map(({ name }) => name).toSorted((a, b) => Number(a === STORE_FILE) - Number(b === STORE_FILE))
    for (const name of names) await moveDurably(join(this.#folder, name), join(this.#path, name))
    removeFetched(this.#path)
  }

  /** Takes back files that a call which was cut short had already moved to their place. */
  async #takeBack({ files }: Snapshot): Promise<void> {
    for (const { name } of files) {
      const moved = join(this.#path, name)
      if (isPresent(moved)) await moveDurably(moved, join(this.#folder, name))
    }
  }

  /** Asks for the manifest of a snapshot. Undefined if the source has no such snapshot. */
  async #askManifest(path: string, method: Method = 'GET'): Promise<Snapshot | undefined> {
    const { status, text, shown } = await this.#askText(path, method)
    if (status === 404) return undefined
    if (status >= 300) throw sourceFailed.snapshotRefused(this.#url + path, status, shown)
    const snapshot = parseSnapshot(tryJson(text))
    if (!snapshot) throw sourceFailed.notAManifest(this.#url + path, shown)
    return snapshot
  }

  async #askText(path: string, method: Method): Promise<TextAnswer> {
    return await this.#ask(path, method, async (answer) => {
      const text = await textOfAnswer(answer, MOST_TEXT_BYTES)
      return { status: answer.status, text, shown: answerText(text, answer.headers) }
    })
  }

  /**
   * Makes a request, and repeats it while the source cannot be reached, breaks off before `read` is done, or is too
   * busy.
   */
  async #ask<T>(path: string, method: Method, read: (answer: HttpAnswer) => Promise<T>): Promise<T> {
    const { signal } = this.#options
    const url = path === '' ? `${this.#url}/` : this.#url + path
    for (const backoff = this.#backoff(); ; ) {
      const outcome = await request(url, method, signal, read)
      if (!('why' in outcome)) return outcome.value
      if (outcome.isFinal) throw sourceFailed.replicaRequestRefused(url, outcome.why)
      await this.#pauseAfter({ url, ...outcome }, backoff)
    }
  }

  #backoff(): Backoff {
    return new Backoff({ firstMs: this.#options.firstPauseMs ?? FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS })
  }

  /**
   * Waits before the next attempt.
   * @throws `source_failed` after too many failures, and if the signal has stopped the call
   */
  async #pauseAfter(
    { url, why, retryAfterMs }: RequestFailure & { readonly url: string },
    backoff: Backoff,
  ): Promise<void> {
    const { signal, onNotice } = this.#options
    const pause = backoff.next(retryAfterMs)
    if (signal?.aborted || backoff.failures >= ATTEMPTS) throw sourceFailed.fetchFailed(url, backoff.failures, why)
    onNotice?.(`${this.#url}: ${why}; resuming in ${(pause / 1_000).toFixed(1)} s`)
    await pauseFor(pause, signal)
  }
}

type Method = 'GET' | 'POST'

interface TextAnswer {
  readonly status: number
  readonly text: string
  /** Description of the text in messages. */
  readonly shown: string
}

/** Makes one request. Returns the result of `read`, or why there is none. */
async function request<T>(
  url: string,
  method: Method,
  signal: AbortSignal | undefined,
  read: (answer: HttpAnswer) => Promise<T>,
): Promise<{ readonly value: T } | RequestFailure> {
  const silenceMs = method === 'POST' ? SNAPSHOT_SILENCE_MS : undefined
  const answer = await sendRequest(url, { method, headers: { 'accept-encoding': FETCH_ENCODINGS }, signal, silenceMs })
  if ('why' in answer) return answer
  try {
    return { value: await read(answer) }
  } catch (error) {
    return failureOf(error)
  }
}

async function shownText(answer: HttpAnswer): Promise<string> {
  return answerText(await textOfFailure(answer), answer.headers)
}

function tryJson(text: string): unknown {
  return tryBoundedJson(text, TEXT_LIMITS)
}

/** Whether an error comes from this machine's disk, and not from the connection. */
function isDiskError(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EIO', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '')
}
