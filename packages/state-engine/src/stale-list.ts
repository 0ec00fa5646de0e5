import { Buffer } from 'node:buffer'
import { corrupt, encodeHistoryKey } from './records.js'

/**
 * What becomes droppable once the oldest version reaches a version, in the database `stale` under that version:
 * entries of u8 1, u48 key id: the history entry (key id, version); u8 2, u32 length, key: the latest record of that
 * key, if it still is the deletion that the version wrote.
 */
const SUPERSEDED = 1
const DELETION = 2

export interface StaleEntries {
  /** Keys of the database `history`. */
  readonly historyKeys: readonly Buffer[]
  /** Keys as users give them. */
  readonly deletions: readonly Buffer[]
}

export class StaleListBuilder {
  readonly #parts: Uint8Array[] = []

  addSuperseded(keyId: number): void {
    const entry = Buffer.allocUnsafe(7)
    entry[0] = SUPERSEDED
    entry.writeUIntBE(keyId, 1, 6)
    this.#parts.push(entry)
  }

  addDeletion(key: Uint8Array): void {
    const head = Buffer.allocUnsafe(5)
    head[0] = DELETION
    head.writeUInt32BE(key.length, 1)
    this.#parts.push(head, key)
  }

  /** Undefined where nothing was added. */
  toRecord(): Buffer | undefined {
    return this.#parts.length === 0 ? undefined : Buffer.concat(this.#parts)
  }
}

export function decodeStaleList(version: bigint, record: Buffer): StaleEntries {
  const historyKeys: Buffer[] = []
  const deletions: Buffer[] = []
  for (let at = 0; at < record.length; ) {
    const kind = record[at]
    if (kind === SUPERSEDED && at + 7 <= record.length) {
      historyKeys.push(encodeHistoryKey(record.readUIntBE(at + 1, 6), version))
      at += 7
    } else if (kind === DELETION && at + 5 <= record.length) {
      const end = at + 5 + record.readUInt32BE(at + 1)
      deletions.push(record.subarray(at + 5, end))
      at = end
    } else {
      throw corrupt(`the stale list of version ${version} does not parse`)
    }
  }
  return { historyKeys, deletions }
}
