import { Buffer } from 'node:buffer'
import zlib from 'node:zlib'
import { ByteWriter, type Write } from '@ledger-state/core'
import { MAX_VALUE_LENGTH } from '@ledger-state/engine'
import { writeOutline } from './info-outline.js'
import { RUN_VERSIONS } from './own-keys.js'
import {
  COLUMNS,
  FORMS,
  FULL_BLOCK_BYTES,
  MAX_DECOMPRESSED,
  type OwnFacts,
  type TransactionBlock,
} from './transaction-block.js'
import { writeVarint } from './varint.js'
import { type WholeTransaction, writeWithoutValues } from './whole-transaction.js'

/** Level 3 saves 1 % of the bytes and takes 60 % longer: see docs/sizing.md, "Transactions". */
const PARAMETERS = { [zlib.constants.ZSTD_c_compressionLevel]: 1 }

/** Bytes of a piece of the result: a usual block is one piece. */
const PIECE_BYTES = 32_768

/** Memory for the parts of a block. Blocks that are built one after the other share it. */
export class BlockParts {
  readonly leaves = new ByteWriter()
  readonly rows = new ByteWriter()
  readonly columns = COLUMNS.map(() => new ByteWriter())

  reset(): this {
    for (const part of [this.leaves, this.rows, ...this.columns]) part.reset()
    return this
  }
}

/** Builds a block. */
export class TransactionBlockWriter {
  readonly firstVersion: bigint
  readonly #group: bigint
  readonly #frontier: Uint8Array
  readonly #hasValues: boolean
  readonly #leaves: ByteWriter
  readonly #rows: ByteWriter
  readonly #columns: readonly ByteWriter[]
  #count = 0

  /**
   * @param place as in `TransactionBlock`
   * @param hasValues whether write sets keep their values
   * @param parts is reset, and filled until `toBytes`
   */
  constructor(
    { firstVersion, group, frontier }: Omit<TransactionBlock, 'transactions'>,
    hasValues: boolean,
    parts = new BlockParts(),
  ) {
    const { leaves, rows, columns } = parts.reset()
    this.#leaves = leaves
    this.#rows = rows
    this.#columns = columns
    this.firstVersion = firstVersion
    this.#group = group
    this.#frontier = frontier
    this.#hasValues = hasValues
  }

  /** Version after its last transaction. */
  get end(): bigint {
    return this.firstVersion + BigInt(this.#count)
  }

  /** Whether a version can join the block. */
  hasRoomFor(version: bigint, { transaction, events, writeSet }: WholeTransaction): boolean {
    if (version !== this.end || version % RUN_VERSIONS === 0n) return false
    const values = this.#hasValues ? writeSet.length : 0
    return this.#byteLength + transaction.length + events.length + values <= FULL_BLOCK_BYTES
  }

  /** Bytes of its transactions before compression. */
  get #byteLength(): number {
    return this.#columns.reduce((sum, { length }) => sum + length, 0)
  }

  /**
   * Adds the next transaction.
   * @param hashesAt `hashesOffset` of its info
   * @param writes the writes that were read from its write set
   * @param ownFacts is stored in a block with values
   * @throws `invalid_bcs`
   */
  add(
    { transaction, info, events, writeSet, indexInBlock, leaf }: WholeTransaction,
    hashesAt: number,
    writes: readonly Write[],
    { timestampUsec }: OwnFacts,
  ): void {
    const [outlines, eventLists, writeSets, transactions] = this.#columns
    const before = this.#columns.map(({ length }) => length)
    writeOutline(info, hashesAt, outlines!)
    eventLists!.bytes(events)
    if (this.#hasValues) writeSets!.bytes(writeSet)
    else writeWithoutValues(writeSet, writeSets!, writes)
    transactions!.bytes(transaction)
    this.#leaves.bytes(leaf)
    this.#rows.uleb128(indexInBlock === undefined ? 0 : indexInBlock + 1)
    for (const [column, { length }] of this.#columns.entries()) this.#rows.uleb128(length - before[column]!)
    this.#rows.uleb128(hashesAt)
    if (this.#hasValues) writeVarint(this.#rows, timestampUsec)
    this.#count++
  }

  /** The block; undefined if it is too long for a store. */
  toBytes(): Uint8Array | undefined {
    const parts = Buffer.concat([this.#rows, ...this.#columns].map((part) => part.toBytes()))
    if (parts.length > MAX_DECOMPRESSED) return undefined
    const compressed = zlib.zstdCompressSync(parts, {
      params: PARAMETERS,
      pledgedSrcSize: parts.length,
      chunkSize: PIECE_BYTES,
    })
    const form = this.#hasValues ? FORMS.withValues : FORMS.withoutValues
    const before = Number(this.firstVersion - this.#group)
    const head = new ByteWriter().u8(form).uleb128(this.#count).uleb128(before).byteString(this.#frontier)
    const block = head.bytes(this.#leaves.toBytes()).uleb128(parts.length).bytes(compressed).toBytes()
    return block.length <= MAX_VALUE_LENGTH ? block : undefined
  }
}
