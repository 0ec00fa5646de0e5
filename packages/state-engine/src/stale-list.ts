import { Buffer } from 'node:buffer'
import { corrupt, encodeHistoryKey } from './records.js'

/**
 * What becomes droppable once the oldest version reaches a version, in the database `stale` under that version:
 * entries of u8 1, u48 key id: the history entry (key id, version); u8 2, u16 length, stored key: the latest record
 * of that key, if it still is the deletion that the version wrote.
 */
const SUPERSEDED = 1
const DELETION = 2

export interface StaleEntries {
  /** Keys of the database `history`. */
  readonly historyKeys: readonly Buffer[]
  /** Keys of the database `latest`. */
  readonly deletions: readonly Buffer[]
}

export class StaleListBuilder {
  readonly #parts: Buffer[] = []

  addSuperseded(keyId: number): void {
    const entry = Buffer.allocUnsafe(7)
    entry[0] = SUPERSEDED
    entry.writeUIntBE(keyId, 1, 6)
    this.#parts.push(entry)
  }

  addDeletion(storedKey: Buffer): void {
    const head = Buffer.allocUnsafe(3)
    head[0] = DELETION
    head.writeUInt16BE(storedKey.length, 1)
    this.#parts.push(head, storedKey)
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
    } else if (kind === DELETION && at + 3 <= record.length) {
      const end = at + 3 + record.readUInt16BE(at + 1)
      deletions.push(record.subarray(at + 3, end))
      at = end
    } else {
      throw corrupt(`the stale list of version ${version} does not parse`)
    }
  }
  return { historyKeys, deletions }
}
