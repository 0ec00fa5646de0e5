import {
  type AsyncSnapshot,
  type AsyncStateView,
  branchOf,
  isSameLedger,
  type LedgerSummary,
} from '@ledger-state/engine'
import {
  expectArray,
  expectBytes,
  expectKept,
  expectLedger,
  expectListable,
  expectU64,
  storeClosed,
} from '@ledger-state/engine/authoring'
import { type Head, isOlder } from '../schema/head.js'
import { type Blocks, createBlocks } from './blocks.js'
import { createLookUps } from './look-ups.js'
import { nearestWrites } from './nearest-writes.js'
import { historyPage, scanPage, versionsPage } from './pages.js'
import type { ServerAnswer, Servers } from './servers.js'

export interface SnapshotsOptions {
  readonly servers: Servers
  /** Longest time in milliseconds for which a head counts as the newest. */
  readonly headMaxAgeMs: number
  /** Called when the newest known head changes. */
  readonly onChange: () => void
}

/** Takes snapshots, and keeps the newest head that any server reported. */
export class Snapshots {
  readonly #servers: Servers
  readonly #options: SnapshotsOptions
  readonly #lookUp: ReturnType<typeof createLookUps>
  readonly #blocks: Blocks
  #head: Head | undefined
  /** Time of the last question whose answer by the primary confirmed the head. */
  #confirmedAt = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined
  #closed = false

  constructor(options: SnapshotsOptions) {
    this.#options = options
    this.#servers = options.servers
    this.#lookUp = createLookUps(options.servers, (answer, askedAt) => this.#confirm(answer, askedAt))
    this.#blocks = createBlocks(options.servers)
  }

  get ledger(): LedgerSummary | undefined {
    this.expectOpen()
    return this.#head?.ledger
  }

  async take(): Promise<AsyncSnapshot> {
    this.expectOpen()
    if (performance.now() - this.#confirmedAt > this.#options.headMaxAgeMs) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined
      })
      await this.#asking.catch((error: unknown) => {
        // The connections may have been closed meanwhile.
        this.expectOpen()
        throw error
      })
    }
    return this.#snapshotOf(this.#head!)
  }

  async #ask(): Promise<void> {
    const askedAt = performance.now()
    this.learn(await this.#servers.head(), askedAt)
  }

  /**
   * Takes a head that a server reported.
   * @param askedAt when the server was asked
   */
  learn(head: Head, askedAt: number): void {
    const known = this.#head
    if (known && isOlder(head, known)) return
    this.#confirmedAt = Math.max(this.#confirmedAt, askedAt)
    const isSame = known !== undefined && isSameLedger(known.ledger, head.ledger)
    // The same ledger stays the same object, so that callers may keep derived data.
    this.#head = isSame ? { ...head, ledger: known.ledger } : head
    if (!isSame) this.#options.onChange()
  }

  #confirm(answer: ServerAnswer<unknown>, askedAt: number): void {
    const { isOfPrimary, latestVersion, oldestVersion, branch, markNumber } = answer
    if (!isOfPrimary) return
    const ledger = this.#head?.ledger
    const isSameWindow = ledger?.latestVersion === latestVersion && ledger.oldestVersion === oldestVersion
    if (isSameWindow && branchOf(ledger) === branch && this.#head?.markNumber === markNumber) {
      this.#confirmedAt = Math.max(this.#confirmedAt, askedAt)
    }
  }

  expectOpen(): void {
    if (this.#closed) throw storeClosed()
  }

  close(): void {
    this.#closed = true
  }

  #snapshotOf({ ledger, base, mark }: Head): AsyncSnapshot {
    const open = async <T>(read: (ledger: LedgerSummary) => Promise<T>): Promise<T> => {
      this.expectOpen()
      expectLedger(ledger)
      const answer = await read(ledger)
      this.expectOpen()
      return answer
    }
    return {
      ledger,
      base,
      mark: mark && Uint8Array.from(mark),
      at: (version) => {
        this.expectOpen()
        expectLedger(ledger)
        if (version !== undefined) expectKept(version, ledger)
        return this.#viewOf(version ?? ledger.latestVersion, ledger, open)
      },
      blockAt: (version) =>
        open((held) => {
          expectKept(version, held)
          return this.#blocks.at({ version, ledger: held })
        }),
      blockByHeight: (height) =>
        open((held) => {
          expectU64('the height', height)
          return this.#blocks.byHeight(height, held)
        }),
      blockAtTime: (timestampUsec) =>
        open((held) => {
          expectU64('the time', timestampUsec)
          return this.#blocks.atTime(timestampUsec, held)
        }),
      history: (key, options) => open((held) => historyPage(this.#servers, held, key, options)),
      nearestWrites: (keys, search) => open((held) => nearestWrites(this.#servers, held, keys, search)),
      versions: (first, last, options) =>
        open((held) => {
          expectListable(first, last, held)
          return versionsPage(this.#servers, held, { first, last }, options)
        }),
    }
  }

  #viewOf(version: bigint, ledger: LedgerSummary, open: <T>(read: () => Promise<T>) => Promise<T>): AsyncStateView {
    const load = (keys: readonly Uint8Array[]) => Promise.all(keys.map((key) => this.#lookUp({ key, version, ledger })))
    return {
      version,
      ledger,
      load: (keys) =>
        open(async () => {
          expectArray('the keys', keys)
          for (const key of keys) expectBytes('the key', key)
          return await load(keys)
        }),
      scan: (prefix, options) => open(() => scanPage(this.#servers, load, { ledger, version, prefix, options })),
    }
  }
}
