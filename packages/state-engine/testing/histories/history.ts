import assert from 'node:assert/strict'
import { isLedgerStateError, U64_MAX, type VersionWrites } from '@ledger-state/core'
import type { EngineView, StateEngineReader, StateWriter } from '@ledger-state/engine'
import type { AtFailpoint } from '../../src/failpoints/failpoints.ts'
import type { StateEngine } from '../../src/open-state-engine.ts'
import { CHAIN, KEYS, type PlannedVersion } from './inputs.ts'

/** Parts of a history: how it opens its store, and its values. */
export interface HistoryParts {
  createModel(): StateWriter
  /** Opens the store of the history, also again after it was closed. */
  open(): StateEngine
  /** Opens the store for reading while its writer has it open. */
  openReader(): StateEngineReader
  /** Makes `open` open a copy of the store with its present files, as a killed writer leaves them. */
  copyStore(): void
  /** Sets how open engines act at failpoints. */
  setFailpointHandler(handler: AtFailpoint): void
  /** Values to choose from in addition to generated ones. */
  readonly values?: readonly Uint8Array[]
}

const MOST_VIEWS = 12

/** An engine and the model that it is compared with. Both do the same work. */
export class RandomHistory {
  readonly model: StateWriter
  readonly parts: HistoryParts
  engine: StateEngine
  #views: (readonly [EngineView, EngineView])[] = []
  #next: bigint
  #height = 0n

  constructor(parts: HistoryParts, firstVersion: bigint) {
    this.parts = parts
    this.model = parts.createModel()
    this.engine = parts.open()
    this.#next = firstVersion
  }

  /** Numbers the planned versions, as far as there are numbers left. */
  take(planned: readonly PlannedVersion[]): VersionWrites[] {
    return planned.flatMap(({ writes, beginsBlock }): VersionWrites[] => {
      if (this.#next > U64_MAX) return []
      const version = this.#next++
      const height = beginsBlock || this.#height === 0n ? this.#height++ : undefined
      // Every second block has the time of the previous one.
      const block = height === undefined ? undefined : { height, epoch: height >> 2n, timestampUsec: height >> 1n }
      return [{ version, block, writes: writes.map(([key, value]) => [KEYS[key]!, value] as const) }]
    })
  }

  /** Same as `take`, but the next call assigns the same numbers again. */
  plan(planned: readonly PlannedVersion[]): VersionWrites[] {
    const [next, height] = [this.#next, this.#height]
    const versions = this.take(planned)
    this.#next = next
    this.#height = height
    return versions
  }

  async commit(versions: readonly VersionWrites[]): Promise<void> {
    await this.model.commit(versions, CHAIN)
    await this.engine.commit(versions, CHAIN)
    this.expectSameLedger()
    this.compareViews()
  }

  /** Commits to the engine, and to the model unless the engine throws. */
  async tryCommit(planned: readonly PlannedVersion[]): Promise<void> {
    const versions = this.plan(planned)
    await this.engine.commit(versions, CHAIN)
    await this.model.commit(this.take(planned), CHAIN)
  }

  async prune(retain: number): Promise<void> {
    if (!this.model.ledger) return
    const expected = await this.model.prune(BigInt(retain))
    const { oldestVersion, done } = await this.engine.prune(BigInt(retain))
    // The engine decides which prune drops a deletion that was overwritten.
    assert.deepEqual({ oldestVersion, done }, { oldestVersion: expected.oldestVersion, done: expected.done })
  }

  /** Truncates engine and model, and renumbers the planned versions after the cut. */
  async truncate(version: bigint): Promise<void> {
    const { ledger } = this.model
    if (!ledger || version < ledger.oldestVersion || version > ledger.latestVersion) {
      await this.expectSameRefusal((engine) => engine.truncateTo(version))
      return
    }
    this.#openViews()
    const mark = version % 2n === 0n ? Uint8Array.of(Number(version % 251n)) : undefined
    await this.model.truncateTo(version, { mark })
    this.follow()
    await this.engine.truncateTo(version, { mark })
    this.expectSameLedger()
    this.compare((engine) => plain(engine.mark))
    this.compareViews()
  }

  /** Replaces the mark of engine and model. */
  async putMark(mark: Uint8Array): Promise<void> {
    if (!this.model.ledger) {
      await this.expectSameRefusal((engine) => engine.putMark(mark))
      return
    }
    this.#openViews()
    await this.model.putMark(mark)
    await this.engine.putMark(mark)
    this.expectSameLedger()
    this.compare((engine) => plain(engine.mark))
    this.compareViews()
  }

  /** Opens views of the whole window, which are compared again and again. */
  #openViews(): void {
    const { oldestVersion, latestVersion } = this.model.ledger!
    for (const share of [0n, 1n, 2n, 3n]) {
      const version = oldestVersion + ((latestVersion - oldestVersion) * share) / 3n
      this.#views.push([this.engine.at(version), this.model.at(version)])
    }
    this.#views = this.#views.slice(-MOST_VIEWS)
  }

  /** Checks that views opened earlier give the same answers, even after their versions were cut off or pruned. */
  compareViews(): void {
    for (const [view, model] of this.#views) {
      const [found, expected] = [view, model].map((one) => answerOf(() => KEYS.map((key) => plain(one.get(key)))))
      assert.deepEqual(found, expected)
    }
  }

  /** Continues the numbers after the newest version of the model. */
  follow(): void {
    const { latestVersion, latestBlock } = this.model.ledger!
    this.#next = latestVersion + 1n
    this.#height = latestBlock.height + 1n
  }

  async expectSameRefusal(work: (engine: StateWriter) => Promise<unknown>): Promise<void> {
    const codes: string[] = []
    for (const engine of [this.model, this.engine]) {
      await work(engine).catch((error: unknown) => codes.push(isLedgerStateError(error) ? error.code : String(error)))
    }
    assert.equal(codes.length, 2)
    assert.equal(codes[0], codes[1])
  }

  async reopen(): Promise<void> {
    await this.engine.close()
    this.#views = []
    this.engine = this.parts.open()
    this.expectSameLedger()
    this.compare((engine) => plain(engine.mark))
  }

  /** Leaves the store as if the process had been killed. */
  async kill(): Promise<void> {
    this.parts.copyStore()
    await this.reopen()
  }

  /** Compares a separate reader with the model, instead of the writer. */
  async compareReader(version: bigint): Promise<void> {
    const reader = this.parts.openReader()
    try {
      assert.deepEqual(reader.ledger, this.model.ledger)
      assert.deepEqual(plain(reader.mark), plain(this.model.mark))
      for (const ask of [readAll(version), scanAll(version)]) {
        assert.deepEqual(
          answerOf(() => ask(reader)),
          answerOf(() => ask(this.model)),
        )
      }
    } finally {
      await reader.close()
    }
  }

  expectSameLedger(): void {
    assert.deepEqual(this.engine.ledger, this.model.ledger)
  }

  async expectSound(): Promise<void> {
    assert.deepEqual((await this.engine.check()).problems, [])
  }

  /** Asks engine and model the same. Their answers, or the codes of their errors, must be equal. */
  compare(ask: (engine: StateWriter) => unknown): void {
    assert.deepEqual(
      answerOf(() => ask(this.engine)),
      answerOf(() => ask(this.model)),
    )
  }

  compareReads(version: bigint): void {
    this.compare(readAll(version))
  }

  /** A version in or around the window, at 0 to 1,000 thousandths of it. */
  versionAt(thousandths: number): bigint {
    const { oldestVersion, latestVersion } = this.model.ledger ?? { oldestVersion: 1n, latestVersion: 1n }
    const low = oldestVersion === 0n ? 0n : oldestVersion - 1n
    const version = low + ((latestVersion + 2n - low) * BigInt(thousandths)) / 1_000n
    return version > U64_MAX ? U64_MAX : version
  }
}

function readAll(version: bigint) {
  return (engine: StateEngineReader) => {
    const view = engine.at(version)
    return KEYS.map((key) => {
      const entry = view.getEntry(key)
      return entry && [entry.version, plain(entry.value)]
    })
  }
}

function scanAll(version: bigint) {
  return (engine: StateEngineReader) =>
    [...engine.at(version).scan(new Uint8Array(0))].map((entry) => [
      plain(entry.key),
      entry.version,
      plain(entry.value),
    ])
}

function answerOf(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error)) return error.code
    throw error
  }
}

/** Bytes in a form that can be compared quickly. */
export function plain(bytes: Uint8Array | null | undefined): string | null | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
