import type { VersionWrites } from '@ledger-state/core'
import type { ChangeCursor, ChangePage, ChangeSource } from './change-source.js'

/** Most bytes of newest versions that are kept for all streams together. */
const MOST_KEPT_BYTES = 8 << 20
/** A stream within this distance to the newest version counts as up to date. */
const NEAR_VERSIONS = 2_000n
/** Streams that read older versions at the same time. Each may cost passes over the store. */
const CATCH_UP_PLACES = 4
/** A stream gives its place to another one after this time, or without a read for this time. */
const PLACE_MS = 5_000

interface KeptPage extends ChangePage {
  readonly first: bigint
  readonly next: bigint
  readonly bytes: number
}

/** Reader of one stream. */
export interface SharedReader {
  /**
   * Reads versions of a branch as `ChangeCursor.read` does. Empty if the source is not at that branch, or does not have
   * `first` yet.
   */
  read(first: bigint, last: bigint, branch: number): Promise<readonly VersionWrites[]>
  close(): void
}

/** Reads each new version once for all streams that are up to date. A stream that is behind has a cursor of its own. */
export class SharedChanges {
  readonly #source: ChangeSource
  #kept: KeptPage[] = []
  #bytes = 0
  #cursor: ChangeCursor | undefined
  #reading: Promise<void> | undefined
  #readers = 0
  readonly #places: Places

  /** @param placeMs as `PLACE_MS` */
  constructor(source: ChangeSource, placeMs = PLACE_MS) {
    this.#source = source
    this.#places = new Places(placeMs)
  }

  /** Opens a reader for one stream. */
  open(): SharedReader {
    this.#readers++
    let own: OwnCursor | undefined
    let isClosed = false
    let reading: Promise<unknown> = Promise.resolve()
    const read: SharedReader['read'] = async (first, last, branch) => {
      if (isClosed) return []
      const kept = this.#kept[0]?.branch
      if (kept !== undefined && kept < branch) this.#forget()
      if (kept !== undefined && kept > branch) return []
      const isNear = last - first < NEAR_VERSIONS && (this.#next === undefined || this.#next === first)
      if (isNear) await this.#readOn(first, last)
      const page = this.#find(first, last)
      if (page || isNear) {
        own?.close()
        return page?.branch === branch ? page.versions : []
      }
      own ??= new OwnCursor(this.#source, this.#places)
      const older = await own.read(first, last)
      return older.branch === branch ? older.versions : []
    }
    return {
      read(first, last, branch) {
        // A stream whose branch was cut off begins a read while the one before is still under way.
        const next = reading.then(() => read(first, last, branch))
        reading = next.catch(() => {})
        return next
      },
      close: () => {
        if (isClosed) return
        isClosed = true
        own?.close()
        if (--this.#readers > 0) return
        this.#forget()
        this.#cursor?.close()
        this.#cursor = undefined
      },
    }
  }

  /** First version that no kept page has; undefined if none is kept. */
  get #next(): bigint | undefined {
    return this.#kept.at(-1)?.next
  }

  #find(first: bigint, last: bigint): ChangePage | undefined {
    const page = this.#kept.find((one) => one.first <= first && first < one.next)
    if (!page) return undefined
    if (page.first === first && page.next - 1n <= last) return page
    const versions = page.versions.filter(({ version }) => version >= first && version <= last)
    return { versions, branch: page.branch }
  }

  /** Reads the next page for all streams that wait for it. */
  async #readOn(first: bigint, last: bigint): Promise<void> {
    this.#cursor ??= this.#source.open()
    const cursor = this.#cursor
    this.#reading ??= cursor
      .read(first, last)
      .then((page) => this.#keep(first, page))
      .catch((error) => {
        this.#forget()
        throw error
      })
      .finally(() => {
        this.#reading = undefined
      })
    await this.#reading
  }

  #keep(first: bigint, { versions, branch }: ChangePage): void {
    if (versions.length === 0 || this.#readers === 0) return
    // Versions of another branch may have other writes.
    if (this.#kept.some((page) => page.branch !== branch)) this.#forget()
    const next = versions.at(-1)!.version + 1n
    const bytes = versions.reduce((sum, one) => sum + bytesOf(one), 0)
    this.#kept.push({ first, next, versions, branch, bytes })
    this.#bytes += bytes
    while (this.#bytes > MOST_KEPT_BYTES && this.#kept.length > 1) this.#bytes -= this.#kept.shift()!.bytes
  }

  #forget(): void {
    this.#kept = []
    this.#bytes = 0
  }
}

/** Places of streams that are behind, given in the order of arrival. */
class Places {
  readonly milliseconds: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds
  }

  get areWaitedFor(): boolean {
    return this.#waiting.length > 0
  }

  async take(): Promise<void> {
    if (this.#taken >= CATCH_UP_PLACES) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#taken++
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }
}

/** Overhead of a version and of a write in memory, in bytes. */
const RECORD_BYTES = 200

/** Memory of a version with its writes. */
export function bytesOf({ writes }: VersionWrites): number {
  return writes.reduce((sum, [key, value]) => sum + RECORD_BYTES + key.length + (value?.length ?? 0), RECORD_BYTES)
}

/**
 * The cursor of a stream that is behind. It gives up its place while the stream does not read, and after a while if
 * others wait: otherwise the streams of one client could keep all places for as long as they read.
 */
class OwnCursor {
  readonly #source: ChangeSource
  readonly #places: Places
  #takenAt = 0
  #cursor: ChangeCursor | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(source: ChangeSource, places: Places) {
    this.#source = source
    this.#places = places
  }

  async read(first: bigint, last: bigint): Promise<ChangePage> {
    clearTimeout(this.#timer)
    const { areWaitedFor, milliseconds } = this.#places
    if (areWaitedFor && performance.now() - this.#takenAt >= milliseconds) this.close()
    this.#isClosed = false
    if (!this.#cursor) {
      await this.#places.take()
      if (this.#isClosed) {
        this.#places.leave()
        return { versions: [], branch: 0 }
      }
      this.#takenAt = performance.now()
      this.#cursor = this.#source.open()
    }
    try {
      return await this.#cursor.read(first, last)
    } finally {
      if (this.#isClosed) this.close()
      else this.#timer = setTimeout(() => this.close(), milliseconds).unref()
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#isClosed = true
    const cursor = this.#cursor
    if (!cursor) return
    this.#cursor = undefined
    cursor.close()
    this.#places.leave()
  }
}
