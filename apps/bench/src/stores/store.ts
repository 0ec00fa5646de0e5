import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Question, WorkloadVersion } from '../workload/workload.ts'

export type LookupResult = Uint8Array | undefined

/**
 * Asks all questions in its own loop, so that no code of the bench runs between two look-ups. Returns the last answer.
 */
export type Read = (questions: readonly Question[]) => LookupResult | Promise<LookupResult>

/** A store that is measured. */
export interface Store {
  readonly name: string
  /** Whether it answers with promises. Such stores are asked fewer questions. */
  readonly isAsync?: boolean
  /** Writes versions without waiting for the disk. */
  ingest(versions: readonly WorkloadVersion[]): void | Promise<void>
  /** Bytes on disk that are in use. Ask only a store that was opened after it was filled. */
  usedBytes(): number | Promise<number>
  readonly latest: Read
  /** Reads values at versions; undefined if the store keeps only the newest values. */
  readonly atVersion: Read | undefined
  close(): void | Promise<void>
}

/** Sum of the sizes of the files of a folder. A store may remove files meanwhile. */
export function folderBytes(path: string): number {
  const sizeOf = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(name), 0)
}
