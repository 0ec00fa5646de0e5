// A source over a list of versions, which reports its mark and place as real sources do.
import { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import type { LedgerSource } from '@ledger-state/feed'

export interface ListedSourceOptions {
  readonly chainId?: number | undefined
  /** Called before each version is yielded. */
  readonly onVersion?: (version: bigint) => void
}

export function listedSource(records: readonly VersionWrites[], options: ListedSourceOptions = {}): LedgerSource {
  const { chainId = 4, onVersion } = options
  let last: bigint | undefined
  return {
    description: 'list',
    chainId,
    get position() {
      return `version ${last}`
    },
    get mark() {
      return last === undefined ? undefined : markOf(last)
    },
    get progress() {
      return { done: Number(last ?? 0n), total: records.length, unit: 'versions' as const }
    },
    async *versions() {
      for (const record of records) {
        onVersion?.(record.version)
        last = record.version
        yield record
      }
    },
    async close() {},
  }
}

/** The mark after a version. */
export function markOf(version: bigint): Buffer {
  return Buffer.from(String(version))
}

/** Versions starting at `first`, in blocks of these lengths, each with one write of `valueBytes`. */
export function listedBlocks(lengths: readonly number[], first = 0n, valueBytes = 1): VersionWrites[] {
  const records: VersionWrites[] = []
  for (const [at, length] of lengths.entries()) {
    for (let index = 0; index < length; index++) {
      const version = first + BigInt(records.length)
      const height = first + BigInt(at)
      records.push({
        version,
        block: index === 0 ? { height, epoch: 0n, timestampUsec: height } : undefined,
        writes: [[Buffer.from(`key ${version % 50n}`), Buffer.alloc(valueBytes, Number(version % 251n))]],
      })
    }
  }
  return records
}
