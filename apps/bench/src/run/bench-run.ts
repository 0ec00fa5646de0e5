import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Measure, Role } from '../report/measure.ts'
import type { PeerName } from '../stores/peers.ts'
import type { Scale } from './scale.ts'

const STORES = 'stores'

type Measured = Omit<Measure, 'suite' | 'rounds' | 'at' | 'better' | 'role'> & {
  readonly role?: Role
  readonly better?: Measure['better']
  readonly at?: Measure['at']
  readonly rounds: number | readonly number[]
}

/** Thrown between two steps of a suite to end it; everything that it made is then removed. */
export class Interrupted extends Error {}

export interface BenchRunOptions {
  readonly scale: Scale
  /** Seed of everything that is written and asked: a whole number from 1. */
  readonly seed: number
  /** Number of keys for `lookup`; undefined for the number of the scale. */
  readonly keys: number | undefined
  /** Peers for `lookup`; undefined for all. */
  readonly peers: readonly PeerName[] | undefined
  /** Folder in which stores are kept for later runs; undefined if they are removed. */
  readonly storesFolder: string | undefined
  /** Minutes of `hostile` with all kinds of clients at the same time; undefined for one kind after the other. */
  readonly minutes: number | undefined
  /** Backup for `ingest`; undefined for the one in the project's shared folder. */
  readonly source: { readonly location: string; readonly hashSalt: string | undefined } | undefined
  /** URL of an empty database for `distributed`; undefined for servers that are started here. */
  readonly store: string | undefined
}

/** Surroundings of a suite: its options, folders that are removed afterwards, and the list of measures. */
export class BenchRun {
  readonly scale: Scale
  readonly seed: number
  readonly keys: number | undefined
  readonly peers: readonly PeerName[] | undefined
  readonly minutes: number | undefined
  readonly source: BenchRunOptions['source']
  readonly store: string | undefined
  readonly measures: Measure[] = []
  /** Omitted measurements, and the reasons. */
  readonly notes: string[] = []
  readonly #signal: AbortSignal
  readonly #root = mkdtempSync(join(tmpdir(), 'ledger-state-bench-'))
  readonly #storesFolder: string | undefined
  readonly #atEnd = new Set<() => void>()
  #suite = ''

  constructor(
    { scale, seed, keys, peers, storesFolder, minutes, source, store }: BenchRunOptions,
    signal: AbortSignal,
  ) {
    this.scale = scale
    this.seed = seed
    this.keys = keys
    this.peers = peers
    this.minutes = minutes
    this.source = source
    this.store = store
    this.#storesFolder = storesFolder
    this.#signal = signal
    // PostgreSQL runs as another user if the bench runs as root, and must reach its files.
    chmodSync(this.#root, 0o755)
  }

  begin(suite: string): void {
    this.#suite = suite
  }

  /** The choice for this run's scale. */
  byScale<T>(choices: Readonly<Record<Scale, T>>): T {
    return choices[this.scale]
  }

  folder(name: string): string {
    const path = join(this.#root, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  removeFolder(name: string): void {
    rmSync(join(this.#root, name), { recursive: true, force: true })
  }

  /** Folder of a store, which is kept if the operator keeps stores. */
  storeFolder(name: string): string {
    if (this.#storesFolder === undefined) return this.folder(join(STORES, name))
    const path = join(this.#storesFolder, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  /** Removes all stores that are not kept. */
  releaseStores(): void {
    this.removeFolder(STORES)
  }

  record(measured: Measured): void {
    const { rounds, role = 'ours', better = 'lower', at = {} } = measured
    const list = typeof rounds === 'number' ? [rounds] : rounds
    this.measures.push({ ...measured, suite: this.#suite, role, better, at, rounds: list })
  }

  /** Adds a remark to the result. */
  note(text: string): void {
    this.notes.push(`${this.#suite}: ${text}`)
    process.stderr.write(`  ${text}\n`)
  }

  /**
   * Prints which step begins.
   * @throws `Interrupted`
   */
  step(text: string): void {
    this.throwIfInterrupted()
    process.stderr.write(`  ${text}\n`)
  }

  /**
   * Ends the run if it was interrupted. Long steps call it between their parts.
   * @throws `Interrupted`
   */
  throwIfInterrupted(): void {
    if (this.#signal.aborted) throw new Interrupted()
  }

  /**
   * Runs `work` when the run is over, however it ends; it must not wait for promises. Returns a function that revokes
   * it.
   */
  atEnd(work: () => void): () => void {
    this.#atEnd.add(work)
    return () => this.#atEnd.delete(work)
  }

  cleanUp(): void {
    for (const work of this.#atEnd) work()
    this.#atEnd.clear()
    // A server that is ending may still write, so try again.
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
