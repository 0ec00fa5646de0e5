import { Buffer } from 'node:buffer'
import {
  DATA_FILE_MAGIC,
  DATA_FILE_VERSION,
  FREE_LIST_AT,
  LAST_PAGE_AT,
  MAGIC_AT,
  MAIN_AT,
  MAP_SIZE_AT,
  META_PAGE,
  NO_PAGE,
  PAGE_FLAGS_AT,
  ROOT_AT,
  VERSION_AT,
} from './data-pages.js'
import { NUMBERS_AS_KEYS } from './store-trees.js'

const META_PAGES = 2
/** Size of the pages of data files. */
export const PAGE_SIZE = 4_096
/** Length of a data file without databases. */
export const EMPTY_FILE_LENGTH = META_PAGES * PAGE_SIZE
/** Flag of an environment whose files are not in a folder of their own. */
const NO_SUBFOLDER = 0x4000

/**
 * Makes a data file without databases, as LMDB does. LMDB frees memory twice if it cannot write these pages (lmdb 3.5.6),
 * so we write them.
 */
export function emptyDataFile(mapBytes: number): Buffer {
  const file = Buffer.alloc(EMPTY_FILE_LENGTH)
  for (let number = 0; number < META_PAGES; number++) {
    const page = file.subarray(number * PAGE_SIZE)
    page.writeBigUInt64LE(BigInt(number), 0)
    page.writeUInt16LE(META_PAGE, PAGE_FLAGS_AT)
    page.writeUInt32LE(DATA_FILE_MAGIC, MAGIC_AT)
    page.writeUInt32LE(DATA_FILE_VERSION, VERSION_AT)
    page.writeBigUInt64LE(BigInt(mapBytes), MAP_SIZE_AT)
    page.writeUInt32LE(PAGE_SIZE, FREE_LIST_AT)
    page.writeUInt16LE(NO_SUBFOLDER | NUMBERS_AS_KEYS, FREE_LIST_AT + 4)
    for (const tree of [FREE_LIST_AT, MAIN_AT]) page.writeBigUInt64LE(NO_PAGE, tree + ROOT_AT)
    page.writeBigUInt64LE(BigInt(META_PAGES - 1), LAST_PAGE_AT)
  }
  return file
}
