import { Buffer } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { dataFileCutShort, notAStore, storeCorrupt } from '../port/errors.js'

// The parts of LMDB's file format that tell whether the file is whole, read without LMDB: it maps the file, and a process
// that reads a mapped page beyond the end of the file is killed by a signal.
//
// Numbers are little-endian. Each page begins with u64 number · u64 transaction · u16 · u16 flags · u16 lower · u16 upper.
// Pages 0 and 1 are meta pages, written by turns: after the header u32 magic · u32 version · u64 address · u64 map size ·
// two databases (free list, main) · u64 last page · u64 transaction. A database: u32 page size (only of the free list) ·
// u16 flags · u16 depth · u64 branch pages · u64 leaf pages · u64 overflow pages · u64 entries · u64 root page.
const PAGE_HEADER_LENGTH = 24
const PAGE_FLAGS_AT = 18
const PAGE_LOWER_AT = 20
const IS_BRANCH = 1
const META_LENGTH = 160
const MAGIC_AT = 24
const PAGE_SIZE_AT = 48
const FREE_LIST_ROOT_AT = 88
const LAST_PAGE_AT = 144
const TRANSACTION_AT = 152
const MAGIC = 0xbeef_c0de
const NO_PAGE = 0xffff_ffff_ffff_ffffn
// A node: u16, u16 size or page · u16 flags · u16 length of the key · key · data.
const NODE_HEADER_LENGTH = 8
const IN_OVERFLOW_PAGES = 1

const META_PAGES = 2
/** The pages that the format allows. */
const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]
/** A writer that commits meanwhile makes what was read of the free list stale. */
const MOST_TRIES = 100

interface Meta {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: bigint
  readonly freeListRoot: bigint
}

/**
 * Refuses a data file that lacks pages which are in use, such as one that was copied in part. Reads the meta pages only,
 * unless the file is shorter than they say.
 * @throws `store_format`, `store_corrupt`
 */
export function expectWholeFile(file: string): void {
  const descriptor = openSync(file, 'r')
  try {
    for (let tries = 1; ; tries++) {
      const meta = readNewestMeta(descriptor, file)
      // After the meta page: a commit extends the file first.
      const { size } = fstatSync(descriptor)
      const needed = (meta.lastPage + 1) * meta.pageSize
      if (size >= needed || missesFreePagesOnly(descriptor, meta, size)) return
      const isStale = readNewestMeta(descriptor, file).transaction !== meta.transaction
      if (!isStale || tries === MOST_TRIES) throw dataFileCutShort(file, size, needed)
    }
  } finally {
    closeSync(descriptor)
  }
}

function readNewestMeta(descriptor: number, file: string): Meta {
  const first = readMeta(descriptor, file, 0)
  const second = readMeta(descriptor, file, first.pageSize)
  return first.transaction >= second.transaction ? first : second
}

function readMeta(descriptor: number, file: string, position: number): Meta {
  const page = Buffer.alloc(META_LENGTH)
  if (readSync(descriptor, page, 0, META_LENGTH, position) < META_LENGTH) {
    const { size } = fstatSync(descriptor)
    const pageSize = position === 0 ? PAGE_SIZES[3]! : position
    throw dataFileCutShort(file, size, META_PAGES * pageSize)
  }
  const pageSize = page.readUInt32LE(PAGE_SIZE_AT)
  if (page.readUInt32LE(MAGIC_AT) !== MAGIC || !PAGE_SIZES.includes(pageSize)) {
    if (position === 0) throw notAStore(file, 'its first page is of another format, or damaged')
    throw storeCorrupt(`the second meta page of ${file} is damaged`)
  }
  return {
    pageSize,
    lastPage: Number(page.readBigUInt64LE(LAST_PAGE_AT)),
    transaction: page.readBigUInt64LE(TRANSACTION_AT),
    freeListRoot: page.readBigUInt64LE(FREE_LIST_ROOT_AT),
  }
}

/** LMDB does not write pages at the end that a transaction took and freed again: the file may end before them. */
function missesFreePagesOnly(descriptor: number, { pageSize, lastPage, freeListRoot }: Meta, size: number): boolean {
  const present = Math.floor(size / pageSize)
  const pages = new PageReader(descriptor, pageSize, present)
  const free = new Set<number>()
  const addFree = (first: number, end: number) => {
    for (let page = Math.max(first, present); page < Math.min(end, lastPage + 1); page++) free.add(page)
  }
  try {
    if (freeListRoot !== NO_PAGE) readFreeList(pages, Number(freeListRoot), addFree)
  } catch (error) {
    // What does not parse is not free.
    if (!(error instanceof RangeError)) throw error
  }
  return free.size === lastPage + 1 - present
}

type AddFree = (first: number, end: number) => void

/** Reads a page of the free list and those below it. @throws RangeError for what does not parse */
function readFreeList(pages: PageReader, root: number, addFree: AddFree): void {
  const page = pages.read(root, 1)
  const isBranch = (page.readUInt16LE(PAGE_FLAGS_AT) & IS_BRANCH) !== 0
  const nodes = page.readUInt16LE(PAGE_LOWER_AT) >> 1
  for (let at = 0; at < nodes; at++) {
    const node = PAGE_HEADER_LENGTH + page.readUInt16LE(PAGE_HEADER_LENGTH + 2 * at)
    const low = page.readUInt32LE(node)
    const flags = page.readUInt16LE(node + 4)
    const data = node + NODE_HEADER_LENGTH + page.readUInt16LE(node + 6)
    if (isBranch) readFreeList(pages, flags * 2 ** 32 + low, addFree)
    else if ((flags & IN_OVERFLOW_PAGES) === 0) readFreePages(page.subarray(data, data + low), addFree)
    else readFreePages(pages.readOverflow(Number(page.readBigUInt64LE(data)), low), addFree)
  }
}

/** A list: u64 count · numbers of pages, where a negative one says how many there are from the next on, and 0 is a gap. */
function readFreePages(list: Buffer, addFree: AddFree): void {
  const count = Number(list.readBigUInt64LE(0))
  for (let at = 1; at <= count; at++) {
    const entry = Number(list.readBigInt64LE(8 * at))
    const length = entry < 0 ? -entry : 1
    const first = entry < 0 ? Number(list.readBigInt64LE(8 * ++at)) : entry
    if (first > 0) addFree(first, first + length)
  }
}

/** Pages of a file, as far as they are there and each is read once. */
class PageReader {
  readonly #descriptor: number
  readonly #pageSize: number
  readonly #present: number
  readonly #seen = new Set<number>()

  constructor(descriptor: number, pageSize: number, present: number) {
    this.#descriptor = descriptor
    this.#pageSize = pageSize
    this.#present = present
  }

  read(first: number, count: number): Buffer {
    if (first + count > this.#present || this.#seen.has(first)) throw new RangeError(`page ${first}`)
    this.#seen.add(first)
    const bytes = Buffer.alloc(count * this.#pageSize)
    if (readSync(this.#descriptor, bytes, 0, bytes.length, first * this.#pageSize) < bytes.length) {
      throw new RangeError(`page ${first}`)
    }
    return bytes
  }

  readOverflow(first: number, length: number): Buffer {
    const count = Math.ceil((PAGE_HEADER_LENGTH + length) / this.#pageSize)
    return this.read(first, count).subarray(PAGE_HEADER_LENGTH, PAGE_HEADER_LENGTH + length)
  }
}
