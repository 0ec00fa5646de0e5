import type { TableName } from './tables.js'
import { UNFINISHED } from './write-table-file.js'

const PATTERN = /^\d{20}-(\d{20}|state-\d{5,})\.parquet$/

/**
 * Name of the files of a range, without the ending `.parquet`.
 * @param number number of the range in its export
 */
export function rangeFileName(
  { first, last, isState }: { readonly first: string; readonly last: string; readonly isState?: boolean },
  number: number,
): string {
  const padded = (version: string) => version.padStart(20, '0')
  return isState ? `${padded(first)}-state-${String(number).padStart(5, '0')}` : `${padded(first)}-${padded(last)}`
}

/** Path of the file of a table, in the folder of the export. */
export function rangeFilePath(table: TableName, fileName: string): string {
  return `${table}/${fileName}.parquet`
}

/** Whether a name is the name of a range's file, or of its draft. */
export function isRangeFileName(name: string): boolean {
  return PATTERN.test(name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name)
}
