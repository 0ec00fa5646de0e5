import type { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH, MAX_RECORD_LENGTH, RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { LargeBytes } from './large-values.js'

// The garbage list, database `garbage`, has what else is dropped with a generation:
//   (u64 generation, u48 n) → entries | u32 CRC
//     entry: u8 1 | u64 version | u16 length | stored form of a key that the version deleted
//          | u8 2 | u48 id | u32 length of a large value that was superseded

const DELETION_KIND = 1
const LARGE_KIND = 2
const DELETION_HEADER_LENGTH = 11
const LARGE_LENGTH = 11
const APPEND = { append: true }

/** Collects entries of the garbage list, and appends them to the records of a generation. */
export class GarbageWriter {
  readonly #store: LmdbStore
  readonly #generation: number
  readonly #builder = new RecordBuilder().begin()
  #count: number

  /** Makes a writer. `count` is the number of records that the generation has. */
  constructor(store: LmdbStore, generation: number, count: number) {
    this.#store = store
    this.#generation = generation
    this.#count = count
  }

  /** Number of records of the generation, without the entries that are not flushed. */
  get count(): number {
    return this.#count
  }

  addDeletion(version: bigint, storedKey: Uint8Array): void {
    this.#reserve(DELETION_HEADER_LENGTH + storedKey.length)
    this.#builder.u8(DELETION_KIND).u64(version).u16(storedKey.length).bytes(storedKey)
  }

  addLarge({ id, length }: LargeBytes): void {
    this.#reserve(LARGE_LENGTH)
    this.#builder.u8(LARGE_KIND).u48(id).u32(length)
  }

  flush(): void {
    if (this.#builder.length === 0) return
    const key = numberedKey(this.#generation, this.#count++)
    this.#store.garbage.putSync(key, this.#builder.seal(numberedKeySeed(key)), APPEND)
    this.#builder.begin()
  }

  #reserve(length: number): void {
    if (this.#builder.length + length + CHECKSUM_LENGTH > MAX_RECORD_LENGTH) this.flush()
  }
}

export type GarbageEntry =
  | { readonly kind: 'deletion'; readonly version: bigint; readonly storedKey: Buffer; readonly end: number }
  | { readonly kind: 'large'; readonly large: LargeBytes; readonly end: number }

/** Decodes the entries of a record from its content, each with the offset of its end. @throws `store_corrupt` */
export function* decodeGarbage(content: Buffer): Generator<GarbageEntry> {
  for (let at = 0; at < content.length; ) {
    const kind = content[at]
    const left = content.length - at
    let entry: GarbageEntry | undefined
    if (kind === LARGE_KIND && left >= LARGE_LENGTH) {
      const large = { id: content.readUIntBE(at + 1, 6), length: content.readUInt32BE(at + 7) }
      entry = { kind: 'large', large, end: at + LARGE_LENGTH }
    } else if (kind === DELETION_KIND && left >= DELETION_HEADER_LENGTH) {
      const end = at + DELETION_HEADER_LENGTH + content.readUInt16BE(at + 9)
      const storedKey = content.subarray(at + DELETION_HEADER_LENGTH, end)
      entry = { kind: 'deletion', version: content.readBigUInt64BE(at + 1), storedKey, end }
    }
    if (!entry || entry.end > content.length) throw storeCorrupt('a record of the database garbage does not parse')
    yield entry
    at = entry.end
  }
}
