import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { listWalFiles, walFilePath } from '../wal/append-file.js'
import { copyInSteps } from './copy-in-steps.js'

/** Keeps WAL files open, so that they can be read after the writer has merged and removed them. */
export class HeldFiles {
  readonly #folder: string
  readonly #descriptors = new Map<number, number>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Opens the files that are in the folder now, unless they are open already. */
  holdPresent(): void {
    for (const number of listWalFiles(this.#folder)) if (!this.#holdsPresent(number)) this.#open(number)
  }

  /** Numbers of the open files, ascending. */
  get numbers(): number[] {
    return [...this.#descriptors.keys()].sort((a, b) => a - b)
  }

  has(fileNumber: number): boolean {
    return this.#descriptors.has(fileNumber)
  }

  /** Present size of an open file in bytes. */
  sizeOf(fileNumber: number): number {
    return fstatSync(this.#descriptors.get(fileNumber)!).size
  }

  /** Copies an open file up to its present end. */
  copy(fileNumber: number, path: string): void {
    const from = this.#descriptors.get(fileNumber)!
    const to = openSync(path, 'w')
    try {
      for (const _ of copyInSteps(from, to));
    } finally {
      closeSync(to)
    }
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor)
    this.#descriptors.clear()
  }

  /**
   * Whether the file with this number is open. Also false if another file has the name now: a file that could not be
   * used is created again.
   */
  #holdsPresent(number: number): boolean {
    const descriptor = this.#descriptors.get(number)
    if (descriptor === undefined) return false
    const present = statSync(walFilePath(this.#folder, number), { throwIfNoEntry: false })
    return !present || present.ino === fstatSync(descriptor).ino
  }

  #open(number: number): void {
    let descriptor: number
    try {
      descriptor = openSync(walFilePath(this.#folder, number), 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw error
    }
    const before = this.#descriptors.get(number)
    this.#descriptors.set(number, descriptor)
    if (before !== undefined) closeSync(before)
  }
}
