import { Buffer } from 'node:buffer'
import { stat } from 'node:fs/promises'
import {
  type BlockInfo,
  ByteReader,
  ByteWriter,
  clip,
  hexToBytes,
  isLedgerStateError,
  LedgerStateError,
  parseU64,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import { type ContentStream, openContent } from './compressed-file.js'
import type { LedgerSource, StateEntryRecord, StatePart } from './source.js'

export const FORMAT = 'ledger-feed'
export const FORMAT_VERSION = 1
const LINE_END = 10

/** One line holds all writes of a version; the largest genesis known takes about 3 MB. */
const MAX_LINE_BYTES = 256 * 1024 * 1024

/**
 * Reads a ledger feed: NDJSON, plain, gzip or zstd. The first line is
 * `{"format":"ledger-feed","format_version":1,"chain_id":4}`, each other line one version:
 * `{"version":"7","block":{"height","epoch","timestamp_usec"},"writes":[["0xkey","0xvalue" or null],…]}`.
 * A feed may begin with a state: `"base":{"version","block","complete"}` in the first line, and behind it lines
 * `{"state":[["0xkey","0xvalue","version of the write"],…]}`.
 * @throws `invalid_feed` naming the line
 */
export async function openLedgerFeed(path: string): Promise<LedgerSource> {
  const { size } = await stat(path)
  const content = await openContent(path)
  const feed = new FeedReader(path, content)
  const { chainId, base } = await feed.readHeader()
  return {
    description: content.compression === 'none' ? 'ledger feed' : `ledger feed (${content.compression})`,
    chainId,
    base: base && {
      version: base.version,
      complete: base.complete,
      parts: (after) => feed.stateParts(base.version, after),
      describe: () => ({ chainId, block: base.block, mark: undefined }),
    },
    get position() {
      return `${path}, line ${feed.line}`
    },
    mark: undefined,
    get progress() {
      return { done: content.bytesRead, total: size, unit: 'bytes' as const }
    },
    versions: () => feed.versions(base?.version),
    async close() {
      await feed.close()
    },
  }
}

class FeedReader {
  /** The line read last, counted from 1. */
  line = 0
  readonly #path: string
  readonly #content: ContentStream
  readonly #lines: AsyncGenerator<string, void>
  /** Read already, and not used: the first version behind a state. */
  #held: Members | undefined

  constructor(path: string, content: ContentStream) {
    this.#path = path
    this.#content = content
    this.#lines = this.#readLines()
  }

  async readHeader(): Promise<FeedHeader> {
    const header = await this.#nextRow()
    if (!header) throw this.#fault('the file is empty')
    return this.#here(() => parseHeader(header))
  }

  async *stateParts(version: bigint, after: Uint8Array | undefined): AsyncGenerator<StatePart> {
    const skipped = after ? new ByteReader(after).readU64() : 0n
    for (let row = await this.#nextRow(); row; row = await this.#nextRow()) {
      if (row.state === undefined) {
        this.#held = row
        return
      }
      if (BigInt(this.line) <= skipped) continue
      const { state } = row
      const entries = this.#here(() => parseState(state, version))
      yield { entries, mark: new ByteWriter().u64(BigInt(this.line)).toBytes() }
    }
  }

  /** @param base version of the state that the feed begins with, which is not read here */
  async *versions(base: bigint | undefined): AsyncGenerator<VersionWrites> {
    let previous = base
    for (let row = this.#held ?? (await this.#nextRow()); row; row = await this.#nextRow()) {
      const members = row
      if (base !== undefined && previous === base && members.state !== undefined) continue
      const record = this.#here(() => parseVersion(members))
      if (previous !== undefined && record.version !== previous + 1n) {
        throw this.#fault(`version ${record.version} follows version ${previous}, expected ${previous + 1n}`)
      }
      previous = record.version
      yield record
    }
  }

  async close(): Promise<void> {
    this.#content.close()
    await this.#lines.return()
  }

  async #nextRow(): Promise<Members | undefined> {
    const next = await this.#lines.next()
    if (next.done) return undefined
    this.line++
    return this.#here(() => parseLine(next.value))
  }

  async *#readLines(): AsyncGenerator<string, void> {
    let pieces: Buffer[] = []
    let pending = 0
    try {
      for await (const piece of this.#content.pieces()) {
        let start = 0
        for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
          pieces.push(piece.subarray(start, end))
          yield joinLine(pieces)
          pieces = []
          pending = 0
          start = end + 1
        }
        if (start < piece.length) {
          pieces.push(piece.subarray(start))
          pending += piece.length - start
          if (pending > MAX_LINE_BYTES) {
            throw this.#fault(`the line is longer than ${MAX_LINE_BYTES} bytes`, this.line + 1)
          }
        }
      }
    } catch (cause) {
      if (isLedgerStateError(cause)) throw cause
      const why = cause instanceof Error ? cause.message : String(cause)
      throw this.#fault(`the file cannot be read on: ${why}`, this.line + 1, cause)
    }
    if (pieces.length > 0) yield joinLine(pieces)
  }

  /** Runs `work`, whose faults are about the line read last. */
  #here<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (isLedgerStateError(error)) throw this.#fault(error.message)
      throw error
    }
  }

  #fault(why: string, line = Math.max(this.line, 1), cause?: unknown): LedgerStateError {
    return new LedgerStateError('invalid_feed', `${this.#path}, line ${line}: ${why}`, { line }, { cause })
  }
}

function joinLine(pieces: Buffer[]): string {
  return (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString('utf8')
}

interface FeedHeader {
  readonly chainId: number
  readonly base: { readonly version: bigint; readonly block: BlockInfo; readonly complete: boolean } | undefined
}

function parseHeader(header: Members): FeedHeader {
  if (header.format !== FORMAT || header.format_version !== FORMAT_VERSION) {
    const found = clip(JSON.stringify(header))
    throw fault(`expected {"format":"${FORMAT}","format_version":${FORMAT_VERSION},"chain_id":…}, found ${found}`)
  }
  const chainId = header.chain_id
  if (typeof chainId !== 'number' || !Number.isInteger(chainId) || chainId < 0 || chainId > 255) {
    throw fault(`chain_id ${JSON.stringify(chainId)}, a whole number from 0 to 255 is expected`)
  }
  if (header.base === undefined) return { chainId, base: undefined }
  if (!isMembers(header.base)) throw fault('the member "base" is no object')
  const { complete = true } = header.base
  if (typeof complete !== 'boolean') throw fault('the member "complete" of "base" is neither true nor false')
  return {
    chainId,
    base: { version: parseMember(header.base, 'version'), block: parseBlock(header.base.block), complete },
  }
}

function parseVersion(row: Members): VersionWrites {
  const version = parseMember(row, 'version')
  if (!Array.isArray(row.writes)) throw fault('the member "writes" is no array')
  const writes = row.writes.map((write: unknown, at): Write => parseWrite(write, at))
  return { version, block: row.block === undefined ? undefined : parseBlock(row.block), writes }
}

function parseState(state: unknown, version: bigint): StateEntryRecord[] {
  if (!Array.isArray(state)) throw fault('the member "state" is no array')
  return state.map((entry: unknown, at) => {
    if (!Array.isArray(entry) || entry.length !== 3) throw fault(`entry ${at} is no triple [key, value, version]`)
    const [key, value, written] = entry as [unknown, unknown, unknown]
    const record = {
      key: parseHex(key, `the key of entry ${at}`),
      value: parseHex(value, `the value of entry ${at}`),
      version: parseDecimal(written, `the version of entry ${at}`),
    }
    if (record.version <= version) return record
    throw fault(`entry ${at} was written at version ${record.version}, behind the state at version ${version}`)
  })
}

function parseBlock(block: unknown): BlockInfo {
  if (!isMembers(block)) throw fault('the member "block" is no object')
  return {
    height: parseMember(block, 'height'),
    epoch: parseMember(block, 'epoch'),
    timestampUsec: parseMember(block, 'timestamp_usec'),
  }
}

function parseWrite(write: unknown, at: number): Write {
  if (!Array.isArray(write) || write.length !== 2) throw fault(`write ${at} is no pair [key, value]`)
  const [key, value] = write as [unknown, unknown]
  return [parseHex(key, `the key of write ${at}`), value === null ? null : parseHex(value, `the value of write ${at}`)]
}

function parseHex(text: unknown, what: string): Uint8Array {
  if (typeof text !== 'string' || !text.startsWith('0x')) throw fault(`${what} is no hex text that begins with 0x`)
  return within(what, () => hexToBytes(text))
}

function parseMember(members: Members, name: string): bigint {
  return parseDecimal(members[name], `the member "${name}"`)
}

function parseDecimal(text: unknown, what: string): bigint {
  if (typeof text !== 'string') throw fault(`${what} is no decimal string`)
  return within(what, () => parseU64(text))
}

function within<T>(what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw fault(`${what}: ${(error as Error).message}`)
  }
}

type Members = Readonly<Record<string, unknown>>

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseLine(text: string): Members {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw fault(`the line is no JSON text (is the file cut short?): …${text.slice(-60)}`)
  }
  if (isMembers(value)) return value
  throw fault(`a JSON object is expected, found ${clip(text)}`)
}

/** The reader of the file adds the line. */
function fault(why: string): LedgerStateError {
  return new LedgerStateError('invalid_feed', why)
}
