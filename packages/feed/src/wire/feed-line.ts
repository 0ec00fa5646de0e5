import {
  type BlockInfo,
  clip,
  hexToBytes,
  type KeyedEntry,
  parseU64,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import { invalidFeed, messageOf, notA } from '../errors.js'
import { parseBoundedJson } from '../files/bounded-json.js'

export const FEED_FORMAT = 'ledger-feed'
export const FEED_FORMAT_VERSION = 1

/** Most bytes of a line, which holds all writes of a version in hex: twice the limit of a record of a backup. */
export const MAX_FEED_LINE_BYTES = 128 * 1024 * 1024
/** Limits of a line: a write has up to 4 values. A million of them take about 240 MB and 2 s. */
const LINE_LIMITS = { depth: 8, values: 1_000_000 }

const MAX_CHAIN_ID = 255
const MOST_SALT = 100

/** Head of a feed: its chain and, optionally, the state before its versions. */
export interface FeedStart {
  readonly chainId: number
  /** The word before the names of the ledger's hashes; undefined if the feed does not say it. */
  readonly hashSalt?: string | undefined
  /** The state before the versions. The lines after the first hold its entries. */
  readonly base?: { readonly version: bigint; readonly block: BlockInfo; readonly complete: boolean } | undefined
}

/** Whether a value of JSON is the id of a chain, a u8. */
export function isChainId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_CHAIN_ID
}

/** The members of a line. */
export type FeedRow = Readonly<Record<string, unknown>>

// All functions here throw `invalid_feed` without a place, which the reader of the file adds.

export function parseFeedLine(text: string): FeedRow {
  let value: unknown
  try {
    value = parseBoundedJson(text, LINE_LIMITS)
  } catch (error) {
    throw invalidFeed(`the line is not JSON text (is the file cut short?): ${messageOf(error)}: …${text.slice(-60)}`)
  }
  if (!isMembers(value)) throw invalidFeed(`expected a JSON object, found ${clip(text)}`)
  return value
}

/**
 * Reads `{"format":"ledger-feed","format_version":1,"chain_id":4}`, to which `"hash_salt":"APTOS::"` and
 * `"base":{"version","block","complete"}` may be added.
 */
export function parseFeedHeader(row: FeedRow): FeedStart {
  if (row.format !== FEED_FORMAT || row.format_version !== FEED_FORMAT_VERSION) {
    const expected = `{"format":"${FEED_FORMAT}","format_version":${FEED_FORMAT_VERSION},"chain_id":…}`
    throw invalidFeed(`expected ${expected}, found ${clip(JSON.stringify(row))}`)
  }
  const chainId = row.chain_id
  if (!isChainId(chainId)) {
    throw notA(`a whole number from 0 to ${MAX_CHAIN_ID}`, `chain_id ${JSON.stringify(chainId)}`)
  }
  const hashSalt = row.hash_salt
  if (hashSalt !== undefined && (typeof hashSalt !== 'string' || hashSalt.length > MOST_SALT)) {
    throw notA(`a text of at most ${MOST_SALT} characters`, 'the member "hash_salt"')
  }
  if (row.base === undefined) return { chainId, hashSalt }
  if (!isMembers(row.base)) throw notA('an object', 'the member "base"')
  const { complete = true } = row.base
  if (typeof complete !== 'boolean') throw notA('true or false', 'the member "complete" of "base"')
  return {
    chainId,
    hashSalt,
    base: { version: parseMember(row.base, 'version'), block: parseBlock(row.base.block), complete },
  }
}

/**
 * Reads `{"version":"7","block":{"height","epoch","timestamp_usec"},"writes":[["0xkey","0xvalue" or null],…]}`. A value
 * may be followed by its annotation, in hex.
 */
export function parseFeedVersion(row: FeedRow): VersionWrites {
  const version = parseMember(row, 'version')
  if (!Array.isArray(row.writes)) throw notA('an array', 'the member "writes"')
  const writes = row.writes.map((write: unknown, at): Write => parseWrite(write, at))
  return { version, block: row.block === undefined ? undefined : parseBlock(row.block), writes }
}

/**
 * Reads the member `state`: `[["0xkey","0xvalue","version of the write"],…]`. An annotation in hex may follow the
 * version.
 * @param version of the state
 */
export function parseFeedState(state: unknown, version: bigint): KeyedEntry[] {
  if (!Array.isArray(state)) throw notA('an array', 'the member "state"')
  return state.map((entry: unknown, at) => {
    if (!Array.isArray(entry) || entry.length < 3 || entry.length > 4) {
      throw notA('a triple [key, value, version]', `entry ${at}`)
    }
    const [key, value, written, annotation] = entry as unknown[]
    const record = {
      key: parseHex(key, `the key of entry ${at}`),
      value: parseHex(value, `the value of entry ${at}`),
      version: parseDecimal(written, `the version of entry ${at}`),
      ...(annotation !== undefined && { annotation: parseHex(annotation, `the annotation of entry ${at}`) }),
    }
    if (record.version <= version) return record
    throw invalidFeed(`entry ${at} was written at version ${record.version}, after the state at version ${version}`)
  })
}

function parseBlock(block: unknown): BlockInfo {
  if (!isMembers(block)) throw notA('an object', 'the member "block"')
  return {
    height: parseMember(block, 'height'),
    epoch: parseMember(block, 'epoch'),
    timestampUsec: parseMember(block, 'timestamp_usec'),
  }
}

function parseWrite(write: unknown, at: number): Write {
  if (!Array.isArray(write) || write.length < 2 || write.length > 3) throw notA('a pair [key, value]', `write ${at}`)
  const [keyText, valueText, annotation] = write as unknown[]
  const key = parseHex(keyText, `the key of write ${at}`)
  const value = valueText === null ? null : parseHex(valueText, `the value of write ${at}`)
  return annotation === undefined ? [key, value] : [key, value, parseHex(annotation, `the annotation of write ${at}`)]
}

function parseHex(text: unknown, what: string): Uint8Array {
  if (typeof text !== 'string' || !text.startsWith('0x')) throw notA('hex text that begins with 0x', what)
  return named(what, () => hexToBytes(text))
}

function parseMember(members: FeedRow, name: string): bigint {
  return parseDecimal(members[name], `the member "${name}"`)
}

function parseDecimal(text: unknown, what: string): bigint {
  if (typeof text !== 'string') throw notA('a decimal string', what)
  return named(what, () => parseU64(text))
}

function named<T>(what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw invalidFeed(`${what}: ${messageOf(error)}`)
  }
}

function isMembers(value: unknown): value is FeedRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
