import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'
import { branchOf, versionTruncated } from '@ledger-state/engine'
import { overloaded } from '../../errors.js'
import { errorToJson } from '../../formats/history-formats.js'
import type { StreamHost } from '../parts/operation.js'
import type { StreamEntries, StreamStep } from './stream-entries.js'
import { type MovedPosition, moveToLedger, positionToId } from './stream-position.js'

/** Time within which a client must read the sent text; else it is told to reconnect after the entry. */
const SLOW_READER_MS = 5_000
/** Wait for a source that does not have a version yet. */
const LAG_MS = 25
/** Time that a client waits before it reconnects. */
const RETRY_MS = 1_000
/** Time for which one step is waited for before the stream looks whether it is over. */
const PATIENCE_MS = 250
/** Characters of entries that are sent together. */
const CHUNK_CHARACTERS = 16_384

type BranchPosition = MovedPosition['position']

/** Text that begins each stream. */
export const OPENING = `retry: ${RETRY_MS}\n\n`

/**
 * A stream as the text of Server-Sent Events. Its entries come in the order of versions, each once, from the one after
 * a position on. After a truncation it continues after the newest version that was left.
 * @throws if it ends within an entry: then its connection must be closed, and the client forgets the incomplete entry
 */
export async function* liveStream(
  host: StreamHost,
  openEntries: () => StreamEntries,
  begin: BranchPosition,
  isBeginCut: boolean,
): AsyncGenerator<string> {
  const stream = new LiveStream(host, openEntries(), begin)
  try {
    let text: string | undefined = stream.opening(isBeginCut)
    while (text !== undefined) {
      const sentAt = performance.now()
      const held = text.length > CHUNK_CHARACTERS ? 2 * text.length : 0
      host.hold(held)
      try {
        yield text
      } finally {
        host.release(held)
      }
      if (performance.now() - sentAt > SLOW_READER_MS) stream.endAfterEntry()
      text = await stream.next()
    }
  } finally {
    stream.close()
  }
}

class LiveStream {
  readonly #host: StreamHost
  readonly #entries: StreamEntries
  #position: BranchPosition
  #isEnded = false
  /** Whether the client reads too slowly, so the stream ends after the entry that was sent in part. */
  #isSlow = false
  #isCaughtUp = false
  /** Entries that are being read. */
  #steps: AsyncIterator<StreamStep> | undefined
  #step: Promise<IteratorResult<StreamStep>> | undefined
  /** The entry that was sent in part. */
  #entry: { readonly version: bigint; readonly pieces: Iterator<string> } | undefined

  constructor(host: StreamHost, entries: StreamEntries, begin: BranchPosition) {
    this.#host = host
    this.#entries = entries
    this.#position = begin
  }

  opening(isCut: boolean): string {
    return isCut ? this.#truncated() : `${this.#id()}\n\n`
  }

  /** @throws within an entry */
  reconnect(why: string): string {
    if (this.#entry) throw overloaded()
    return `event: reconnect\n${this.#id()}\ndata: ${JSON.stringify({ message: why })}\n\n`
  }

  /**
   * Ends the stream after the entry that is being sent, because the client reads too slowly.
   * @throws if it is asked twice within one entry
   */
  endAfterEntry(): void {
    if (this.#isSlow && this.#entry) throw overloaded()
    this.#isSlow = true
  }

  /** The next text to send; undefined at the end of the stream. */
  async next(): Promise<string | undefined> {
    const silentUntil = performance.now() + this.#host.heartbeatMs
    while (!this.#isEnded) {
      if (this.#host.isOver()) {
        return this.#end(this.#host.isClosing() ? this.reconnect('the service is closing') : undefined)
      }
      if (this.#isSlow && !this.#entry) return this.#end(this.reconnect('the client reads too slowly'))
      const text = await this.#advance(silentUntil)
      if (text !== undefined) return text
      if (this.#isEnded) return undefined
      if (this.#hasJustCaughtUp()) return `${this.#id()}\n\n`
      if (!this.#entry && performance.now() >= silentUntil) return `: heartbeat\n${this.#id()}\n\n`
      if (!this.#steps && !this.#entry) await this.#wait(silentUntil - performance.now())
    }
    return undefined
  }

  close(): void {
    this.#dropSteps()
    this.#entries.close()
  }

  /** Reads on. Undefined if nothing is to be sent now. */
  async #advance(until: number): Promise<string | undefined> {
    try {
      const state = this.#host.ledger.at()
      // An older copy has replaced the store.
      if (branchOf(state.ledger) < this.#position.branch) return this.#end(this.reconnect('the store was replaced'))
      const { position, isCut } = moveToLedger(this.#position, state.ledger)
      if (position.branch !== this.#position.branch) {
        if (this.#entry) throw versionTruncated(this.#entry.version)
        this.#dropSteps()
      }
      this.#position = position
      if (isCut) return this.#truncated()
      if (!this.#steps && position.version < state.version) {
        this.#steps = this.#entries.read(position.version + 1n, state)[Symbol.asyncIterator]()
      }
      return await this.#readEntries(until)
    } catch (error) {
      this.#dropSteps()
      if (this.#entry) throw error
      return this.#fault(error)
    }
  }

  async #readEntries(until: number): Promise<string | undefined> {
    const { turn } = this.#host
    let text = ''
    /** Length of the text up to the end of its last entry. */
    let whole = 0
    let entry = this.#entry
    while (text.length < CHUNK_CHARACTERS && !this.#host.isOver()) {
      try {
        if (entry) {
          const { done, value } = entry.pieces.next()
          if (turn.isSpent) await turn.nextTurn()
          if (!done) {
            text += value
            continue
          }
          this.#position = { ...this.#position, version: entry.version }
          text += '\n\n'
          whole = text.length
          entry = undefined
          this.#entry = undefined
        }
        if (this.#isSlow || !this.#steps || performance.now() >= until) break
        const result = await this.#nextStep()
        if (!result) continue
        const { ledger } = this.#host.ledger.at()
        // Entries of another branch are not sent.
        if (result.done || branchOf(ledger) !== this.#position.branch) {
          this.#dropSteps()
          break
        }
        const { version, pieces } = result.value
        if (pieces) {
          entry = { version, pieces: pieces[Symbol.iterator]() }
          text += `${this.#id(version)}\ndata: `
        } else this.#position = { ...this.#position, version }
      } catch (error) {
        if (this.#entry || whole === 0) throw error
        // The next read finds the error again.
        this.#dropSteps()
        return text.slice(0, whole)
      }
    }
    this.#entry = entry
    return text === '' ? undefined : text
  }

  /** The next step; undefined if it takes longer than `PATIENCE_MS`. */
  async #nextStep(): Promise<IteratorResult<StreamStep> | undefined> {
    this.#step ??= this.#steps!.next()
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), PATIENCE_MS)
    })
    try {
      const result = await Promise.race([this.#step, patience])
      if (result) this.#step = undefined
      return result
    } finally {
      clearTimeout(timer)
    }
  }

  #dropSteps(): void {
    // It may still be reading, and then ends after that.
    this.#step?.catch(() => {})
    this.#steps?.return?.().catch(() => {})
    this.#steps = undefined
    this.#step = undefined
  }

  #fault(error: unknown): string | undefined {
    if (isLedgerStateError(error, 'version_truncated', 'version_not_found')) return undefined
    if (isLedgerStateError(error, 'version_pruned')) return this.#pruned(error)
    if (isLedgerStateError(error, 'client_left')) return this.#end(undefined)
    if (isLedgerStateError(error, 'overloaded')) return this.#end(this.reconnect('the service is overloaded'))
    this.#host.onFault(error)
    return this.#end(this.reconnect('the stream failed'))
  }

  /**
   * The end of a stream whose next version is pruned, or that needs something that the store does not keep of a version
   * in its window. Otherwise the stream reads on: another version was pruned.
   */
  #pruned(error: LedgerStateError<'version_pruned'>): string | undefined {
    let why: LedgerStateError = error
    try {
      const { ledger } = this.#host.ledger.at()
      moveToLedger(this.#position, ledger)
      if ((error.fields.version ?? 0n) < ledger.oldestVersion) return undefined
    } catch (newer) {
      if (!isLedgerStateError(newer, 'version_pruned')) return undefined
      why = newer
    }
    return this.#end(`event: pruned\n${this.#id()}\ndata: ${errorToJson(why)}\n\n`)
  }

  #end(text: string | undefined): string | undefined {
    this.#isEnded = true
    return text
  }

  #truncated(): string {
    return `event: truncated\n${this.#id()}\ndata: {"version":"${this.#position.version}"}\n\n`
  }

  #id(version = this.#position.version): string {
    return `id: ${positionToId({ ...this.#position, version })}`
  }

  /**
   * Whether the stream has reached the latest version for the first time, so that its client learns that it has
   * everything.
   */
  #hasJustCaughtUp(): boolean {
    if (this.#isCaughtUp || this.#entry) return false
    this.#isCaughtUp = this.#position.version >= this.#host.ledger.at().version
    return this.#isCaughtUp
  }

  async #wait(milliseconds: number): Promise<void> {
    const { ledger, ticks } = this.#host
    const known = ledger.at().ledger
    const isBehind = this.#position.version < known.latestVersion
    await ticks.change(known, isBehind ? LAG_MS : milliseconds, () => this.#host.isOver())
  }
}
