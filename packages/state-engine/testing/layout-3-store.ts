// Writes stores of layout 3, as docs/storage-layout-3.md has it, for tests of the upgrade. It shares no code with the engine,
// so that a change there cannot change what an old store is.
import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { BlockInfo, VersionWrites } from '@ledger-state/core'
import { type Database, open } from 'lmdb'

export interface Layout3Content {
  readonly chainId: bigint
  /** From the base on, without gaps. */
  readonly versions: readonly VersionWrites[]
  /** To which the store was pruned; it begins a block. By default the first. */
  readonly oldestVersion?: bigint
  readonly complete?: boolean
  readonly mark?: Uint8Array
}

/** Writes the store that commits of these versions and a prune leave. The folder must hold none. */
export async function writeLayout3Store(path: string, content: Layout3Content): Promise<void> {
  mkdirSync(path, { recursive: true })
  const root = open({
    path: join(path, 'state.mdb'),
    noSubdir: true,
    maxDbs: 8,
    pageSize: 4_096,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
    mapSize: 2 ** 40,
  })
  const table = (name: string): BinaryTable =>
    root.openDB<Buffer, Uint8Array>({ name, encoding: 'binary', keyEncoding: 'binary' })
  const tables = Object.fromEntries(DATABASES.map((name) => [name, table(name)])) as Tables
  root.transactionSync(() => new Layout3Writer(tables, content).write())
  await root.close()
}

const DATABASES = ['meta', 'latest', 'log', 'retired', 'index', 'large', 'blocks'] as const
type BinaryTable = Database<Buffer, Uint8Array>
type Tables = Record<(typeof DATABASES)[number], BinaryTable>

const [DELETED, LARGE, LONG_KEY, INDEXED] = [1, 2, 4, 8] as const
const LONGEST_INLINE_KEY = 1_900
const LONGEST_INLINE_VALUE = 3_700
const LONGEST_LOGGED_VALUE = 1_400
const LISTED = 32
const CHUNK = 120
const PAGE_PIECE = 4_068
const LONGEST_PIECE = 990
const DIRECTORY = 2 ** 32 - 1

interface Revision {
  readonly version: bigint
  readonly value: Uint8Array | null
}

interface Key {
  readonly key: Uint8Array
  readonly id: number
  /** Ascending. */
  readonly revisions: Revision[]
}

class Layout3Writer {
  readonly #tables: Tables
  readonly #content: Layout3Content
  readonly #oldestVersion: bigint
  readonly #retired = new Map<bigint, Buffer[]>()
  #nextLargeId = 0
  #supersededEntries = 0
  #payloadBytes = 0

  constructor(tables: Tables, content: Layout3Content) {
    this.#tables = tables
    this.#content = content
    this.#oldestVersion = content.oldestVersion ?? content.versions[0]!.version
  }

  write(): void {
    const keys = keysOf(this.#content.versions)
    for (const key of keys) this.#writeKey(key)
    let retiredRecords = 0
    for (const [version, entries] of this.#retired) {
      entries.forEach((entry, part) => {
        this.#put('retired', numbered(version, part), entry)
      })
      retiredRecords += entries.length
    }
    const kept = this.#content.versions.filter(({ version, block }) => block && version >= this.#oldestVersion)
    for (const { version, block } of kept) this.#put('blocks', numbered(version, 0), blockBytes(block!))
    const { mark } = this.#content
    if (mark) this.#tables.meta.putSync(Buffer.from('mark'), sealed(mark, crc32('mark')))
    this.#tables.meta.putSync(Buffer.from('layout'), Buffer.from('3'))
    const ledger = this.#ledgerBytes(keys.length, kept.length, retiredRecords)
    this.#tables.meta.putSync(Buffer.from('ledger'), sealed(ledger, 0))
  }

  #writeKey({ key, id, revisions }: Key): void {
    const seen = revisions.filter(
      (_, at) => at === revisions.length - 1 || revisions[at + 1]!.version > this.#oldestVersion,
    )
    const newest = seen.at(-1)!
    if (newest.value === null && newest.version <= this.#oldestVersion) return
    const longKey = key.length > LONGEST_INLINE_KEY ? this.#storeLarge(key) : undefined
    seen.forEach(({ value }, at) => {
      const next = seen[at + 1]
      if (next) this.#supersede(id, value, next.version)
    })
    for (const { version, value } of seen) {
      if (value === null && version > this.#oldestVersion) this.#retire(version, deletionBytes(key))
    }
    let older = seen.slice(0, -1).map(({ version }) => version)
    const moved = older.length < LISTED ? 0 : older.length - (older.length % LISTED)
    if (moved > 0) this.#writeIndex(id, older.slice(0, moved), newest.version)
    older = older.slice(moved)
    const value =
      newest.value && newest.value.length > LONGEST_INLINE_VALUE ? this.#storeLarge(newest.value) : newest.value
    const isLarge = value !== newest.value
    const flags =
      (newest.value === null ? DELETED : 0) |
      (isLarge ? LARGE : 0) |
      (longKey ? LONG_KEY : 0) |
      (moved > 0 ? INDEXED : 0)
    const stored = storedKey(key)
    const parts = [Buffer.of(flags, older.length), u48(id), u64(newest.version), ...older.map(u64)]
    const record = Buffer.concat([...parts, longKey ?? NOTHING, value ?? NOTHING])
    this.#tables.latest.putSync(stored, sealed(record, crc32(stored.subarray(1, 1 + LONGEST_INLINE_KEY))))
    this.#payloadBytes += key.length + (newest.value?.length ?? 0)
  }

  #supersede(id: number, value: Uint8Array | null, version: bigint): void {
    this.#supersededEntries++
    this.#payloadBytes += value?.length ?? 0
    let [flags, body] = [value === null ? DELETED : 0, value ?? NOTHING]
    if (value && value.length > LONGEST_LOGGED_VALUE) {
      body = this.#storeLarge(value)
      flags = LARGE
      this.#retire(version, Buffer.concat([Buffer.of(3), body]))
    }
    this.#put('log', numbered(version, id), Buffer.concat([Buffer.of(flags), body]))
  }

  #writeIndex(id: number, versions: readonly bigint[], writtenAt: bigint): void {
    const firsts: bigint[] = []
    for (let at = 0, number = 0; at < versions.length; at += CHUNK, number++) {
      firsts.push(versions[at]!)
      const chunk = versions.slice(at, at + CHUNK)
      this.#put('index', numbered(BigInt(id), number), Buffer.concat([u64(writtenAt), ...chunk.map(u64)]))
      this.#retire(writtenAt, Buffer.concat([Buffer.of(2), u48(id), u32(number)]))
    }
    this.#put('index', numbered(BigInt(id), DIRECTORY), Buffer.concat([u32(0), ...firsts.map(u64)]))
  }

  /** Returns the reference to it. */
  #storeLarge(bytes: Uint8Array): Buffer {
    const id = this.#nextLargeId++
    const paged = bytes.length - (bytes.length % PAGE_PIECE)
    const rest = bytes.length - paged
    const length = Math.ceil(rest / Math.ceil(rest / LONGEST_PIECE))
    for (let start = 0, piece = 0; start < bytes.length; piece++) {
      const end = start < paged ? start + PAGE_PIECE : Math.min(bytes.length, start + length)
      this.#put('large', numbered(BigInt(id), piece), bytes.subarray(start, end))
      start = end
    }
    return Buffer.concat([u48(id), u32(bytes.length)])
  }

  #retire(version: bigint, entry: Buffer): void {
    const entries = this.#retired.get(version)
    if (entries) entries.push(entry)
    else this.#retired.set(version, [entry])
  }

  #put(name: (typeof DATABASES)[number], key: Buffer, content: Uint8Array): void {
    this.#tables[name].putSync(key, sealed(content, numberedSeed(key)))
  }

  #ledgerBytes(keys: number, blocks: number, retiredRecords: number): Buffer {
    const { chainId, versions, complete } = this.#content
    const first = versions[0]!
    const isWide = chainId > 255n
    const counts = [keys, this.#nextLargeId, blocks, retiredRecords, this.#supersededEntries, this.#payloadBytes]
    return Buffer.concat([
      Buffer.of(isWide ? 0 : Number(chainId)),
      u64(versions.at(-1)!.version),
      blockBytes(versions.findLast(({ block }) => block)!.block!),
      u64(this.#oldestVersion),
      blockBytes(versions.find(({ version }) => version === this.#oldestVersion)!.block!),
      ...counts.map((count) => u64(BigInt(count))),
      u64(first.version),
      Buffer.of((complete ?? first.version === 0n) ? 1 : 0),
      isWide ? u64(chainId) : NOTHING,
    ])
  }
}

/** All keys in the order of their first writes, without deletions of what was not there. */
function keysOf(versions: readonly VersionWrites[]): Key[] {
  const keys = new Map<string, Key>()
  for (const { version, writes } of versions) {
    for (const [key, value] of writes) {
      const name = Buffer.from(key).toString('latin1')
      const known = keys.get(name)
      if (value === null && (known?.revisions.at(-1)?.value ?? null) === null) continue
      if (known) known.revisions.push({ version, value })
      else keys.set(name, { key, id: keys.size, revisions: [{ version, value }] })
    }
  }
  return [...keys.values()]
}

function storedKey(key: Uint8Array): Buffer {
  if (key.length <= LONGEST_INLINE_KEY) return Buffer.concat([Buffer.from('k'), key])
  return Buffer.concat([Buffer.from('k'), key.subarray(0, LONGEST_INLINE_KEY), hash('sha256', key, 'buffer')])
}

function deletionBytes(key: Uint8Array): Buffer {
  const stored = storedKey(key)
  return Buffer.concat([Buffer.of(1), u16(stored.length), stored])
}

function blockBytes({ height, epoch, timestampUsec }: BlockInfo): Buffer {
  return Buffer.concat([u64(height), u64(epoch), u64(timestampUsec)])
}

function numbered(first: bigint, second: number): Buffer {
  return Buffer.concat([u64(first), u48(second)])
}

/** Of a record under two numbers. */
function numberedSeed(key: Buffer): number {
  const [high, low, partHigh, partLow] = [
    key.readUInt32BE(0),
    key.readUInt32BE(4),
    key.readUInt16BE(8),
    key.readUInt32BE(10),
  ]
  const mixed = Math.imul(Math.imul(Math.imul(high, 0x9e37_79b1) ^ low, 0x85eb_ca6b) ^ partHigh, 0xc2b2_ae35) ^ partLow
  return mixed >>> 0
}

function sealed(content: Uint8Array, seed: number): Buffer {
  return Buffer.concat([content, u32(crc32(content, seed))])
}

const NOTHING = Buffer.alloc(0)

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function u48(value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(value, 0, 6)
  return bytes
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}
