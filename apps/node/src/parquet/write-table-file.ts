import { createHash } from 'node:crypto'
import { createReadStream, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { constants, zstdCompressSync } from 'node:zlib'
import { makeFolderNow, moveDurably } from '@ledger-state/core/files'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { type Column, columnsToSchema, ROWS_OF_GROUP, type RowSource } from './tables.js'

/** Level 2 takes 5 % more bytes and 5 to 10 % less time for an export, level 8 takes 1 % fewer and 5 % more time. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 6 } }
/** Bytes of a page, before it is encoded. Each page begins without a value to refer to: pages of 1 MiB take 3 % more. */
const BYTES_OF_PAGE = 16 << 20
/** Ending of a file's name until the file is whole. */
export const UNFINISHED = '.unfinished'

export interface TableFile {
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

/** Writes rows as a Parquet file, which gets its name only once it is whole and on the disk. */
export async function writeTableFile(path: string, rows: RowSource): Promise<TableFile> {
  makeFolderNow(dirname(path))
  const draft = path + UNFINISHED
  rmSync(draft, { force: true })
  const writer = openParquetFile(draft, rows.columns)
  for (const columnData of rows.toRowGroups()) {
    await writer.write({ columnData, rowGroupSize: ROWS_OF_GROUP, pageSize: BYTES_OF_PAGE })
    await nextTurn()
  }
  await writer.finish()
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of createReadStream(draft)) {
    hash.update(piece)
    bytes += piece.length
  }
  await moveDurably(draft, path)
  return { rows: rows.count, bytes, sha256: hash.digest('hex') }
}

/** Begins a Parquet file. It is whole once the writer has finished. */
export function openParquetFile(path: string, columns: readonly Column[]): ParquetWriter {
  return new ParquetWriter({
    writer: fileWriter(path),
    schema: columnsToSchema(columns),
    codec: 'ZSTD',
    compressors: { ZSTD: (input) => zstdCompressSync(input, LEVEL) },
    createdBy: 'ledger-state',
    // Whole addresses, so that an equal one is found in the only group that may have it.
    statisticsTruncateLength: 66,
  })
}
