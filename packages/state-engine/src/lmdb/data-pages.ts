import { Buffer } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

// The part of LMDB's file format (of lmdb 3.5.6) that is needed to check a file without LMDB: LMDB maps the file and trusts
// its content, so that damage may end the process by a signal. Numbers are little-endian.
//
// Page: u64 number · u64 transaction · u16 · u16 flags · u16 lower · u16 upper (of an overflow page: u32 pages). Branch and
// leaf pages: lower / 2 offsets of nodes, u16 each, ascending by key; offsets count from the end of the header.
// Node: u32 size of the data · u16 flags · u16 length of the key · key · data. In a branch page the first three numbers of
// 16 bits are the child's page. Long data is in overflow pages, and the node has the number of the first of them.
// Pages 0 and 1 are meta pages, written in turns: after the header u32 magic · u32 version · u64 address · u64 map size ·
// database of the free list · main database · u64 last page · u64 transaction.
// Database: u32 page size (only of the free list) · u16 flags · u16 depth · u64 branch pages · u64 leaf pages · u64 overflow
// pages · u64 entries · u64 root page. The main database has a node with such data for each named database.
export const PAGE_HEADER_LENGTH = 24
export const PAGE_TRANSACTION_AT = 8
export const PAGE_FLAGS_AT = 18
export const LOWER_AT = 20
export const UPPER_AT = 22
export const OVERFLOW_COUNT_AT = 20
const BRANCH_PAGE = 1
export const LEAF_PAGE = 2
export const OVERFLOW_PAGE = 4
export const META_PAGE = 8
const META_LENGTH = 160
export const MAGIC_AT = 24
export const VERSION_AT = 28
export const MAP_SIZE_AT = 40
export const FREE_LIST_AT = 48
/** Flag of an encrypted file. LMDB looks for it in the first meta page, even in the older one, and lmdb-js crashes if it is set. */
const ENCRYPTED = 0x2000
export const MAIN_AT = 96
export const LAST_PAGE_AT = 144
export const TRANSACTION_AT = 152
export const DATA_FILE_MAGIC = 0xbeef_c0de
export const DATA_FILE_VERSION = 2
const DATABASE_LENGTH = 48
// Offsets in a database.
export const DEPTH_AT = 6
const BRANCH_PAGES_AT = 8
export const LEAF_PAGES_AT = 16
export const OVERFLOW_PAGES_AT = 24
export const ENTRIES_AT = 32
export const ROOT_AT = 40
export const NO_PAGE = 0xffff_ffff_ffff_ffffn
export const NODE_HEADER_LENGTH = 8
/** Length of a reference to overflow pages: u64 page · u64 transaction · u64 pages. */
export const OVERFLOW_REFERENCE_LENGTH = 24
export const IN_OVERFLOW_PAGES = 1
const IS_DATABASE = 2
const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]
/** Page size that is assumed if the first page cannot be read. */
const USUAL_PAGE_SIZE = 4_096
const META_PAGES = 2
const NUMBER_LENGTH = 8

export interface DatabaseRoot {
  readonly flags: number
  readonly depth: number
  readonly branchPages: number
  readonly leafPages: number
  readonly overflowPages: number
  readonly entries: number
  /** Root page of the tree; undefined for an empty database. */
  readonly root: number | undefined
}

export interface Meta {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: bigint
  readonly freeList: DatabaseRoot
  readonly main: DatabaseRoot
}

export interface PageNode {
  readonly key: Buffer
  /** Page of the child in a branch page; in a leaf page, the first overflow page if the data is in overflow pages. */
  readonly page: number | undefined
  readonly dataLength: number
  /** Data of the node; empty if it is in overflow pages. */
  readonly data: Buffer
  /** Whether the data is a `DatabaseRoot`. */
  readonly isDatabase: boolean
}

export interface TreePage {
  readonly isBranch: boolean
  /** Transaction that wrote the page. */
  readonly transaction: bigint
  readonly nodes: readonly PageNode[]
}

/** Error that describes what is wrong with a page. */
export class PageFault extends Error {}

/** Error of a file that ends before its meta pages. */
export class FileTooShort extends Error {
  readonly needed: number

  constructor(needed: number) {
    super(`at least ${needed} bytes are needed`)
    this.needed = needed
  }
}

/**
 * Most transactions of a sound store, more than any store has: with a damaged number the older of the meta pages would
 * be taken for the newest.
 */
const MOST_TRANSACTIONS = 2n ** 40n

/** Reads a data file page by page. */
export class DataPages {
  readonly #descriptor: number

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r')
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  get size(): number {
    return fstatSync(this.#descriptor).size
  }

  /** Whether the file has no databases, and never had any. */
  isEmpty(): boolean {
    try {
      const { main, transaction } = this.readNewestMeta()
      return main.root === undefined && transaction === 0n
    } catch (error) {
      if (error instanceof FileTooShort || error instanceof PageFault) return false
      throw error
    }
  }

  /** Reads the newest meta page. @throws `PageFault`, `FileTooShort` */
  readNewestMeta(): Meta {
    const first = this.#readMeta(0, USUAL_PAGE_SIZE)
    const second = this.#readMeta(first.pageSize, first.pageSize)
    return first.transaction >= second.transaction ? first : second
  }

  #readMeta(position: number, pageSize: number): Meta {
    const bytes = Buffer.alloc(META_LENGTH)
    if (readSync(this.#descriptor, bytes, 0, META_LENGTH, position) < META_LENGTH) {
      throw new FileTooShort(META_PAGES * pageSize)
    }
    const found = bytes.readUInt32LE(FREE_LIST_AT)
    const number = position === 0 ? 0 : 1
    const freeList = decodeDatabaseRoot(bytes.subarray(FREE_LIST_AT))
    const isMeta =
      bytes.readBigUInt64LE(0) === BigInt(number) &&
      bytes.readUInt16LE(PAGE_FLAGS_AT) === META_PAGE &&
      bytes.readUInt32LE(MAGIC_AT) === DATA_FILE_MAGIC &&
      bytes.readUInt32LE(VERSION_AT) === DATA_FILE_VERSION &&
      PAGE_SIZES.includes(found) &&
      (freeList.flags & ENCRYPTED) === 0 &&
      bytes.readBigUInt64LE(TRANSACTION_AT) < MOST_TRANSACTIONS
    if (!isMeta) throw new PageFault(`meta page ${number} is of another format, or damaged (byte ${position})`)
    return {
      pageSize: found,
      lastPage: Number(bytes.readBigUInt64LE(LAST_PAGE_AT)),
      transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
      freeList,
      main: decodeDatabaseRoot(bytes.subarray(MAIN_AT)),
    }
  }

  /** Reads a branch or leaf page, and checks that its nodes lie within it. @throws `PageFault` */
  readTreePage(meta: Meta, number: number): TreePage {
    const page = this.#readPage(meta, number, 1)
    const flags = page.readUInt16LE(PAGE_FLAGS_AT)
    if (flags !== BRANCH_PAGE && flags !== LEAF_PAGE) throw this.faultOf(meta, number, 'is not a page of a tree')
    const isBranch = flags === BRANCH_PAGE
    const body = page.subarray(PAGE_HEADER_LENGTH)
    const [lower, upper] = [page.readUInt16LE(LOWER_AT), page.readUInt16LE(UPPER_AT)]
    if (lower % 2 !== 0 || lower > upper || upper > body.length) throw this.faultOf(meta, number, 'has a wrong header')
    const nodes = Array.from({ length: lower / 2 }, (_, at) => {
      const start = body.readUInt16LE(2 * at)
      const node = start >= upper ? decodeNode(body, start, isBranch) : undefined
      if (!node) throw this.faultOf(meta, number, 'has a node beyond its end')
      return node
    })
    return { isBranch, transaction: page.readBigUInt64LE(PAGE_TRANSACTION_AT), nodes }
  }

  /** Counts the overflow pages that hold `length` bytes, and reads the bytes if they are wanted. @throws `PageFault` */
  readOverflow(meta: Meta, first: number, length: number, isWanted: boolean) {
    const count = Math.ceil((PAGE_HEADER_LENGTH + length) / meta.pageSize)
    this.expectInFile(meta, first)
    this.expectInFile(meta, first + count - 1)
    const pages = this.#readPage(meta, first, isWanted ? count : 1)
    const isSound =
      pages.readUInt16LE(PAGE_FLAGS_AT) === OVERFLOW_PAGE && pages.readUInt32LE(OVERFLOW_COUNT_AT) === count
    if (!isSound) throw this.faultOf(meta, first, `does not begin ${count} overflow pages`)
    return { count, bytes: pages.subarray(PAGE_HEADER_LENGTH, PAGE_HEADER_LENGTH + length) }
  }

  /** Checks that a page is in the file and not a meta page. @throws `PageFault` */
  expectInFile(meta: Meta, number: number): void {
    if (number >= META_PAGES && number <= meta.lastPage) return
    throw new PageFault(`page ${number} is not one of the file`)
  }

  faultOf({ pageSize }: Meta, number: number, what: string): PageFault {
    return new PageFault(`page ${number} ${what} (byte ${number * pageSize})`)
  }

  #readPage(meta: Meta, number: number, count: number): Buffer {
    this.expectInFile(meta, number)
    const bytes = Buffer.allocUnsafe(count * meta.pageSize)
    if (readSync(this.#descriptor, bytes, 0, bytes.length, number * meta.pageSize) < bytes.length) {
      throw this.faultOf(meta, number, 'is beyond the end of the file')
    }
    if (bytes.readBigUInt64LE(0) !== BigInt(number)) throw this.faultOf(meta, number, 'has another number')
    if (bytes.readBigUInt64LE(PAGE_TRANSACTION_AT) > meta.transaction) {
      throw this.faultOf(meta, number, 'is of a transaction that was not committed')
    }
    return bytes
  }
}

function decodeNode(body: Buffer, start: number, isBranch: boolean): PageNode | undefined {
  const keyStart = start + NODE_HEADER_LENGTH
  if (keyStart > body.length) return undefined
  const low = body.readUInt32LE(start)
  const flags = body.readUInt16LE(start + 4)
  const keyEnd = keyStart + body.readUInt16LE(start + 6)
  if (keyEnd > body.length) return undefined
  const key = body.subarray(keyStart, keyEnd)
  const none = { data: body.subarray(0, 0), isDatabase: false }
  if (isBranch) return { key, page: flags * 2 ** 32 + low, dataLength: 0, ...none }
  if (flags === IN_OVERFLOW_PAGES) {
    if (keyEnd + OVERFLOW_REFERENCE_LENGTH > body.length) return undefined
    return { key, page: Number(body.readBigUInt64LE(keyEnd)), dataLength: low, ...none }
  }
  if (keyEnd + low > body.length || (flags !== 0 && flags !== IS_DATABASE)) return undefined
  if (flags === IS_DATABASE && low !== DATABASE_LENGTH) return undefined
  const data = body.subarray(keyEnd, keyEnd + low)
  return { key, page: undefined, dataLength: low, data, isDatabase: flags === IS_DATABASE }
}

export function decodeDatabaseRoot(bytes: Buffer): DatabaseRoot {
  const count = (at: number) => Number(bytes.readBigUInt64LE(at))
  const root = bytes.readBigUInt64LE(ROOT_AT)
  return {
    flags: bytes.readUInt16LE(4),
    depth: bytes.readUInt16LE(DEPTH_AT),
    branchPages: count(BRANCH_PAGES_AT),
    leafPages: count(LEAF_PAGES_AT),
    overflowPages: count(OVERFLOW_PAGES_AT),
    entries: count(ENTRIES_AT),
    root: root === NO_PAGE ? undefined : Number(root),
  }
}

export type PageRange = readonly [first: number, end: number]

/**
 * Iterates over an entry of the list of free pages: u64 count · numbers of pages. A negative number is the length of
 * the range that begins with the next number, and 0 is a gap.
 * @throws `PageFault` if the list has fewer numbers than its count
 */
export function* pagesOfFreeList(list: Buffer): Generator<PageRange> {
  const count = list.length < NUMBER_LENGTH ? 0 : Number(list.readBigUInt64LE(0))
  if ((count + 1) * NUMBER_LENGTH > list.length) throw new PageFault(`the list of free pages has no ${count} entries`)
  for (let at = 1; at <= count; at++) {
    const entry = Number(list.readBigInt64LE(NUMBER_LENGTH * at))
    if (entry === 0) continue
    if (entry < 0 && at === count) throw new PageFault('the list of free pages ends with a length')
    const first = entry < 0 ? Number(list.readBigInt64LE(NUMBER_LENGTH * ++at)) : entry
    yield [first, first + (entry < 0 ? -entry : 1)]
  }
}
