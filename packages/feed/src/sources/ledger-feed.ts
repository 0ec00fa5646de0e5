import { Buffer } from 'node:buffer'
import { createHash, type Hash } from 'node:crypto'
import { ByteReader, ByteWriter, isLedgerStateError, type VersionWrites } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { feedUnreadable, invalidFeedLine, otherFeedBegun } from '../errors.js'
import type { ContentStream } from '../files/compressed-file.js'
import { readLines } from '../files/lines.js'
import {
  type FeedRow,
  type FeedStart,
  MAX_FEED_LINE_BYTES,
  parseFeedHeader,
  parseFeedLine,
  parseFeedState,
  parseFeedVersion,
} from '../wire/feed-line.js'
import type { LedgerSource, StatePart } from './source.js'

/** Most lines with nothing but spaces. Editors and scripts leave some; a small compressed file could hold billions. */
const MOST_BLANK_LINES = 1_000

/** A file or pipe with its first bytes already read. */
export interface OpenedFeed {
  readonly path: string
  readonly content: ContentStream
  /** All pieces of the content. */
  readonly pieces: AsyncGenerator<Buffer, void>
  /** Bytes of the file; 0 of a pipe. */
  readonly size: number
  /** The word before the name of each hash, if the caller knows it. */
  readonly hashSalt?: string | undefined
}

/**
 * Reads a ledger feed: NDJSON, plain, gzip or zstd. The first line names the format and the chain. If it announces a
 * state, lines of entries follow; then each line is one version. The README has the format.
 * @throws `invalid_feed` naming the line
 */
export async function openLedgerFeed({ path, content, pieces, size, hashSalt }: OpenedFeed): Promise<LedgerSource> {
  const feed = new FeedReader(path, content, pieces)
  const { chainId, base, hashSalt: said } = await feed.readHeader()
  return {
    description: content.compression === 'none' ? 'ledger feed' : `ledger feed (${content.compression})`,
    chainId,
    hashSalt: hashSalt ?? said,
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
      return { done: content.bytesRead, total: Math.max(size, content.bytesRead), unit: 'bytes' as const }
    },
    versions: () => feed.versions(base?.version),
    async close() {
      await feed.close()
    },
  }
}

/** The last line of a state that was read, and the SHA-256 of all lines from the first one of the state up to it. */
interface FeedMark {
  readonly line: bigint
  readonly sha256: Uint8Array
}

const MARK_MAGIC = Buffer.from('LSFEED\0\x01', 'latin1')
const MARK_LENGTH = MARK_MAGIC.length + 8 + 32

// Layout of a mark: magic · u64 line · 32 bytes SHA-256
function writeMark({ line, sha256 }: FeedMark): Uint8Array {
  return new ByteWriter().bytes(MARK_MAGIC).u64(line).bytes(sha256).toBytes()
}

/** @throws `invalid_feed` if the mark is one of another source */
function readMark(path: string, mark: Uint8Array): FeedMark {
  const isOwn = mark.length === MARK_LENGTH && MARK_MAGIC.equals(mark.subarray(0, MARK_MAGIC.length))
  if (!isOwn) throw otherFeedBegun(path)
  const reader = new ByteReader(mark, MARK_MAGIC.length)
  return { line: reader.readU64(), sha256: reader.readBytes(reader.remaining) }
}

class FeedReader {
  /** Number of the last line that was read, counted from 1. */
  line = 0
  #blankLines = 0
  readonly #path: string
  readonly #content: ContentStream
  readonly #lines: AsyncGenerator<string, void>
  /** The first version after a state. Reading it showed the end of the state. */
  #held: FeedRow | undefined
  /** Hash of the lines since the state began, while it is read. */
  #hash: Hash | undefined

  constructor(path: string, content: ContentStream, pieces: AsyncGenerator<Buffer, void>) {
    this.#path = path
    this.#content = content
    this.#lines = readLines(pieces, MAX_FEED_LINE_BYTES, () =>
      invalidFeedLine(path, this.line + 1, `the line is longer than ${MAX_FEED_LINE_BYTES} bytes`),
    )
  }

  async readHeader(): Promise<FeedStart> {
    const header = await this.#nextRow()
    if (!header) throw invalidFeedLine(this.#path, 1, 'the file is empty')
    return this.#atLine(() => parseFeedHeader(header))
  }

  async *stateParts(version: bigint, after: Uint8Array | undefined): AsyncGenerator<StatePart> {
    let begun = after && readMark(this.#path, after)
    const hash = createHash('sha256')
    this.#hash = hash
    for (let row = await this.#nextRow(); row; row = await this.#nextRow()) {
      if (row.state === undefined) {
        this.#held = row
        break
      }
      const { state } = row
      const line = BigInt(this.line)
      if (begun && line < begun.line) continue
      const sha256 = hash.copy().digest()
      if (begun) {
        if (line > begun.line || compareBytes(sha256, begun.sha256) !== 0) throw otherFeedBegun(this.#path)
        begun = undefined
        continue
      }
      const entries = this.#atLine(() => parseFeedState(state, version))
      yield { entries, mark: writeMark({ line, sha256 }) }
    }
    this.#hash = undefined
    if (begun) throw otherFeedBegun(this.#path)
  }

  /**
   * Yields the versions of the feed.
   * @param base version of the state that the feed begins with; the state itself is skipped
   */
  async *versions(base: bigint | undefined): AsyncGenerator<VersionWrites> {
    let previous = base
    for (let row = this.#held ?? (await this.#nextRow()); row; row = await this.#nextRow()) {
      const members = row
      if (base !== undefined && previous === base && members.state !== undefined) continue
      const record = this.#atLine(() => parseFeedVersion(members))
      if (previous !== undefined && record.version !== previous + 1n) {
        const why = `version ${record.version} follows version ${previous}, expected ${previous + 1n}`
        throw invalidFeedLine(this.#path, this.line, why)
      }
      previous = record.version
      yield record
    }
  }

  async close(): Promise<void> {
    this.#content.close()
    await this.#lines.return()
  }

  async #nextRow(): Promise<FeedRow | undefined> {
    for (let text = await this.#nextLine(); text !== undefined; text = await this.#nextLine()) {
      this.line++
      const line = this.line === 1 ? withoutMark(text) : text
      this.#hash?.update(line).update('\n')
      if (!isBlank(line)) return this.#atLine(() => parseFeedLine(line))
      if (++this.#blankLines > MOST_BLANK_LINES)
        throw invalidFeedLine(this.#path, this.line, `more than ${MOST_BLANK_LINES} blank lines`)
    }
    return undefined
  }

  async #nextLine(): Promise<string | undefined> {
    try {
      const next = await this.#lines.next()
      return next.done ? undefined : next.value
    } catch (cause) {
      throw isLedgerStateError(cause) ? cause : feedUnreadable(this.#path, this.line + 1, cause)
    }
  }

  /** Runs `work`, and names the last line in its errors. */
  #atLine<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw isLedgerStateError(error) ? invalidFeedLine(this.#path, this.line, error.message) : error
    }
  }
}

/** A text without the byte order mark that editors of Windows put before it. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Whether a line has nothing but spaces, as the last one of a file may. */
function isBlank(line: string): boolean {
  return !/\S/.test(line)
}
