import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import {
  type BlockInfo,
  clip,
  hexToBytes,
  isLedgerStateError,
  LedgerStateError,
  parseU64,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import type { LedgerSource } from './source.js'

const FORMAT = 'ledger-feed'
const FORMAT_VERSION = 1

/** One line holds all writes of a version; the largest genesis known takes about 3 MB. */
const MAX_LINE_BYTES = 256 * 1024 * 1024

/**
 * Reads a ledger feed: NDJSON, plain or gzip. The first line is
 * `{"format":"ledger-feed","format_version":1,"chain_id":4}`, each other line one version:
 * `{"version":"7","block":{"height","epoch","timestamp_usec"},"writes":[["0xkey","0xvalue" or null],…]}`.
 * @throws `invalid_feed` naming the line
 */
export async function openLedgerFeed(path: string, compressed: boolean): Promise<LedgerSource> {
  const { size } = await stat(path)
  const file = createReadStream(path, { highWaterMark: 256 * 1024 })
  const lines = readLines(file, compressed)
  const header = await lines.next()
  if (header.done) throw feedError(1, 'the file is empty')
  const chainId = parseHeader(header.value)
  let line = 1
  return {
    description: compressed ? 'ledger feed (gzip)' : 'ledger feed',
    chainId,
    get position() {
      return `line ${line}`
    },
    get progress() {
      return { done: file.bytesRead, total: size, unit: 'bytes' as const }
    },
    async *versions() {
      let previous: bigint | undefined
      for await (const text of lines) {
        line++
        const record = parseRow(text, line)
        if (previous !== undefined && record.version !== previous + 1n) {
          throw feedError(line, `version ${record.version} follows version ${previous}, expected ${previous + 1n}`)
        }
        previous = record.version
        yield record
      }
    },
    async close() {
      await lines.return()
      file.destroy()
    },
  }
}

async function* readLines(file: NodeJS.ReadableStream, compressed: boolean): AsyncGenerator<string, void> {
  const stream = compressed ? pipeThroughGunzip(file) : file
  let line = 1
  let pieces: Buffer[] = []
  let pending = 0
  try {
    for await (const data of stream) {
      const chunk = data as Buffer
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        pieces.push(chunk.subarray(start, end))
        yield joinLine(pieces)
        line++
        pieces = []
        pending = 0
        start = end + 1
      }
      if (start < chunk.length) {
        pieces.push(chunk.subarray(start))
        pending += chunk.length - start
        if (pending > MAX_LINE_BYTES) throw feedError(line, `the line is longer than ${MAX_LINE_BYTES} bytes`)
      }
    }
  } catch (cause) {
    if (isLedgerStateError(cause)) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw feedError(line, `the file cannot be read on: ${why}`, cause)
  }
  if (pieces.length > 0) yield joinLine(pieces)
}

function pipeThroughGunzip(file: NodeJS.ReadableStream): NodeJS.ReadableStream {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 })
  file.on('error', (error) => gunzip.destroy(error))
  return file.pipe(gunzip)
}

function joinLine(pieces: Buffer[]): string {
  return (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString('utf8')
}

function parseHeader(text: string): number {
  const header = parseLine(text, 1)
  if (header.format !== FORMAT || header.format_version !== FORMAT_VERSION) {
    throw feedError(
      1,
      `expected {"format":"${FORMAT}","format_version":${FORMAT_VERSION},"chain_id":…}, found ${clip(text)}`,
    )
  }
  const chainId = header.chain_id
  if (typeof chainId === 'number' && Number.isInteger(chainId) && chainId >= 0 && chainId <= 255) return chainId
  throw feedError(1, `chain_id ${JSON.stringify(chainId)}, a whole number from 0 to 255 is expected`)
}

function parseRow(text: string, line: number): VersionWrites {
  const row = parseLine(text, line)
  const version = parseMember(row, 'version', line)
  if (!Array.isArray(row.writes)) throw feedError(line, 'the member "writes" is no array')
  const writes = row.writes.map((write: unknown, at): Write => parseWrite(write, at, line))
  return { version, block: row.block === undefined ? undefined : parseBlock(row.block, line), writes }
}

function parseBlock(block: unknown, line: number): BlockInfo {
  if (!isMembers(block)) throw feedError(line, 'the member "block" is no object')
  return {
    height: parseMember(block, 'height', line),
    epoch: parseMember(block, 'epoch', line),
    timestampUsec: parseMember(block, 'timestamp_usec', line),
  }
}

function parseWrite(write: unknown, at: number, line: number): Write {
  if (!Array.isArray(write) || write.length !== 2) throw feedError(line, `write ${at} is no pair [key, value]`)
  const [key, value] = write as [unknown, unknown]
  return [
    parseHex(key, `the key of write ${at}`, line),
    value === null ? null : parseHex(value, `the value of write ${at}`, line),
  ]
}

function parseHex(text: unknown, what: string, line: number): Uint8Array {
  if (typeof text !== 'string' || !text.startsWith('0x'))
    throw feedError(line, `${what} is no hex text that begins with 0x`)
  try {
    return hexToBytes(text)
  } catch (error) {
    throw feedError(line, `${what}: ${(error as Error).message}`)
  }
}

function parseMember(members: Members, name: string, line: number): bigint {
  const text = members[name]
  if (typeof text !== 'string') throw feedError(line, `the member "${name}" is no decimal string`)
  try {
    return parseU64(text)
  } catch (error) {
    throw feedError(line, `the member "${name}": ${(error as Error).message}`)
  }
}

type Members = Readonly<Record<string, unknown>>

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseLine(text: string, line: number): Members {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw feedError(line, `the line is no JSON text (is the file cut short?): …${text.slice(-60)}`)
  }
  if (isMembers(value)) return value
  throw feedError(line, `a JSON object is expected, found ${clip(text)}`)
}

function feedError(line: number, why: string, cause?: unknown): LedgerStateError {
  return new LedgerStateError('invalid_feed', `line ${line}: ${why}`, { line }, { cause })
}
