import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Question, WorkloadVersion } from '../workload.js'

export type Answer = Uint8Array | undefined

/** Asks every question in a loop of its own, so that nothing of the bench stands between; the last answer. */
export type Read = (questions: readonly Question[]) => Answer | Promise<Answer>

/** A store in a benchmark: how it takes versions in, and how it answers. */
export interface Store {
  readonly name: string
  /** Without waiting for the disk. */
  ingest(versions: readonly WorkloadVersion[]): void | Promise<void>
  /** Bytes on disk that hold something, of a store that was opened when it was filled. */
  usedBytes(): number | Promise<number>
  readonly latest: Read
  /** Undefined where the store keeps the newest values only. */
  readonly atVersion: Read | undefined
  close(): void | Promise<void>
}

/** Sum over the files of a folder; a store may remove some meanwhile. */
export function folderBytes(path: string): number {
  const sizeOf = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(name), 0)
}

const asynchronous = new WeakMap<Store, boolean>()

/** Whether its answers are to be waited for: it is asked fewer questions. */
export function isAsynchronous(store: Store): boolean {
  let known = asynchronous.get(store)
  if (known === undefined) {
    known = store.latest([{ key: new Uint8Array(40), version: 0n }]) instanceof Promise
    asynchronous.set(store, known)
  }
  return known
}
