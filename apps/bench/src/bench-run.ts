import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Measure, Role } from './measure.js'
import type { PeerName } from './stores/peers.js'

export const SCALES = ['tiny', 'small', 'medium', 'large'] as const
export type Scale = (typeof SCALES)[number]

const STORES = 'stores'

/** What a suite will take, roughly, on a machine of two cores. */
export interface Estimate {
  readonly minutes: number
  readonly memoryBytes: number
  readonly diskBytes: number
}

export interface Suite {
  readonly name: string
  readonly summary: string
  estimate(scale: Scale): Estimate
  run(run: BenchRun): Promise<void>
  readonly charts?: readonly Chart[]
}

/** A plot of measures of a suite: a line for each subject, or bars where the axis is no number. */
export interface Chart {
  readonly title: string
  readonly metric: string | readonly string[]
  /** A member of `at`, `metric`, or `subject`. */
  readonly x: string
  readonly where?: Readonly<Record<string, string | number>>
  readonly logarithmic?: boolean
  /** What it shows, in a sentence. */
  readonly caption: string
}

type Measured = Omit<Measure, 'suite' | 'rounds' | 'at' | 'better' | 'role'> & {
  readonly role?: Role
  readonly better?: Measure['better']
  readonly at?: Measure['at']
  readonly rounds: number | readonly number[]
}

/** Stops a suite between two of its steps; what it made is cleaned up. */
export class Interrupted extends Error {}

export interface BenchRunOptions {
  readonly scale: Scale
  /** Of what is written and asked: a whole number from 1 on. */
  readonly seed: number
  /** Of lookup, instead of those of the scale. */
  readonly keys: number | undefined
  /** Of lookup, by the names of their stores, instead of all. */
  readonly peers: readonly PeerName[] | undefined
  /** Where stores stay for later runs; without, they are gone afterwards. */
  readonly storesFolder: string | undefined
  readonly source: { readonly location: string; readonly hashSalt: string | undefined } | undefined
}

/** What a suite works with: its scale, folders that are gone afterwards, and where its figures go. */
export class BenchRun {
  readonly scale: Scale
  readonly seed: number
  readonly keys: number | undefined
  readonly peers: readonly PeerName[] | undefined
  readonly source: BenchRunOptions['source']
  readonly measures: Measure[] = []
  /** Things that were left out, and why. */
  readonly notes: string[] = []
  readonly #signal: AbortSignal
  readonly #root = mkdtempSync(join(tmpdir(), 'ledger-state-bench-'))
  readonly #storesFolder: string | undefined
  #suite = ''

  constructor({ scale, seed, keys, peers, storesFolder, source }: BenchRunOptions, signal: AbortSignal) {
    this.scale = scale
    this.seed = seed
    this.keys = keys
    this.peers = peers
    this.source = source
    this.#storesFolder = storesFolder
    this.#signal = signal
    // A server that refuses to run as root has to get at its folder, too.
    chmodSync(this.#root, 0o755)
  }

  begin(suite: string): void {
    this.#suite = suite
  }

  /** One of four, as the scale says. */
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

  /** A folder of a store, which stays where the operator keeps stores. */
  storeFolder(name: string): string {
    if (this.#storesFolder === undefined) return this.folder(join(STORES, name))
    const path = join(this.#storesFolder, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  /** Removes all stores, but where they are kept. */
  releaseStores(): void {
    this.removeFolder(STORES)
  }

  record(measured: Measured): void {
    const { rounds, role = 'ours', better = 'lower', at = {} } = measured
    const list = typeof rounds === 'number' ? [rounds] : rounds
    this.measures.push({ ...measured, suite: this.#suite, role, better, at, rounds: list })
  }

  /** Says something that belongs to the outcome, and is not a figure. */
  note(text: string): void {
    this.notes.push(`${this.#suite}: ${text}`)
    process.stderr.write(`  ${text}\n`)
  }

  /** Says what is under way. Between two such steps a run can be interrupted. */
  step(text: string): void {
    this.expectGoingOn()
    process.stderr.write(`  ${text}\n`)
  }

  /** Within a long step: here, too, a run can be interrupted. @throws `Interrupted` */
  expectGoingOn(): void {
    if (this.#signal.aborted) throw new Interrupted()
  }

  cleanUp(): void {
    // A server that was just told to end may still write.
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
