import { setImmediate as nextTurn } from 'node:timers/promises'
import { type LevelMerge, type MergedLevel, mergeLevel } from './merge-level.js'
import type { SharedProgress } from './shared-progress.js'
import type { FileFacts } from './write-segments.js'

interface Running {
  readonly level: number
  readonly steps: Generator<number, MergedLevel>
  resolve(merged: MergedLevel | undefined): void
  reject(error: unknown): void
}

/**
 * Runs merges of segment files in steps, those into the lowest level first: a merge of gigabytes rests while the newest files
 * are merged. Other work of the thread takes place between the steps.
 */
export class LevelWork {
  readonly #facts: FileFacts
  readonly #progress: SharedProgress
  #running: Running[] = []

  constructor(facts: FileFacts, progress: SharedProgress) {
    this.#facts = facts
    this.#progress = progress
  }

  /** Merges files. Resolves with undefined, and leaves no file, if the progress was stopped. */
  run(merge: LevelMerge): Promise<MergedLevel | undefined> {
    return new Promise((resolve, reject) => {
      this.#running.push({ level: merge.level, steps: mergeLevel(this.#facts, merge), resolve, reject })
      this.#running.sort((a, b) => a.level - b.level)
      if (this.#running.length === 1) void this.#runAll()
    })
  }

  async #runAll(): Promise<void> {
    while (this.#running.length > 0) {
      await nextTurn()
      const first = this.#running[0]!
      if (this.#step(first)) this.#running.splice(this.#running.indexOf(first), 1)
    }
  }

  /** Runs a step of a merge. Returns whether it has ended. */
  #step({ steps, resolve, reject }: Running): boolean {
    try {
      if (this.#progress.isStopped) {
        steps.return(undefined as never)
        resolve(undefined)
        return true
      }
      const { done, value } = steps.next()
      if (done) resolve(value)
      else this.#progress.add(value)
      return done === true
    } catch (error) {
      reject(error)
      return true
    }
  }
}
