import { Buffer } from 'node:buffer'
import type { BlockInfo } from '@ledger-state/core'
import { tryBoundedJson } from '@ledger-state/feed'
import type { StoreFacts, StoreSegment } from '@ledger-state/state-engine'

/** Name of the manifest, in the folder of the files. */
export const MANIFEST_NAME = 'segments.json'
/** Most bytes of a manifest: an entry has about 400. */
export const MOST_MANIFEST_BYTES = 2 ** 26
const FORMAT = 'ledger-state-segments'
const FORMAT_VERSION = 1
const MOST_FILES = 100_000
const LIMITS = { depth: 4, values: 1_200_000 }
/** Longest mark of a store, and longest segment file with its envelope. */
const MOST_MARK_BYTES = 2 ** 16
const MOST_FILE_BYTES = 2 ** 31
const MOST_TRUNCATIONS = 16
/** The greatest number of a truncation. A fetched store counts its own from there. */
const MOST_TRUNCATION_NUMBER = 2 ** 48

/** A segment file as a manifest describes it. */
export interface ManifestFile extends Omit<StoreSegment, 'path'> {
  /** SHA-256 of the whole file in hex. Its name is made of it. */
  readonly sha256: string
  /** The first bytes of the least and of the greatest key, in hex, 32 at most; empty if the file has no key. */
  readonly firstKey: string
  readonly lastKey: string
}

/** The files of a store, and the other content of its catalog. */
export interface SegmentsManifest {
  readonly facts: StoreFacts
  /** The oldest first. */
  readonly files: readonly ManifestFile[]
}

/** Name of a file in the folder of the manifest. */
export function nameOfFile({ sha256 }: Pick<ManifestFile, 'sha256'>): string {
  return `segment-${sha256}`
}

/** The manifest as a text, the same for the same store: members in this order, a file in each line. */
export function encodeManifest({ facts, files }: SegmentsManifest): string {
  const { ledger, base, segmentsId, mark } = facts
  const members = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    chainId: String(ledger.chainId),
    segmentsId: String(segmentsId),
    branch: (ledger.truncations ?? []).map(({ number, version }) => [number, String(version)]),
    base: { version: String(base.version), complete: base.complete },
    oldest: versionMember(ledger.oldestVersion, ledger.oldestBlock),
    latest: versionMember(ledger.latestVersion, ledger.latestBlock),
    mark: mark ? Buffer.from(mark).toString('hex') : '',
  }
  const head = Object.entries(members).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  const rows = files.map(({ firstVersion, lastVersion, until, ...rest }) => {
    const versions = { firstVersion: String(firstVersion), lastVersion: String(lastVersion), until: String(until) }
    return `    ${JSON.stringify({ name: nameOfFile(rest), ...inOrder(rest), ...versions })}`
  })
  return `{\n${head.join(',\n')},\n  "files": [\n${rows.join(',\n')}\n  ]\n}\n`
}

function inOrder({
  sha256,
  bytes,
  level,
  isBase,
  writes,
  keys,
  firstKey,
  lastKey,
}: Omit<ManifestFile, 'firstVersion' | 'lastVersion' | 'until'>) {
  return { sha256, bytes, level, isBase, writes, keys, firstKey, lastKey }
}

function versionMember(version: bigint, { height, epoch, timestampUsec }: BlockInfo) {
  return {
    version: String(version),
    height: String(height),
    epoch: String(epoch),
    timestampUsec: String(timestampUsec),
  }
}

/** Parses a manifest. Returns why it is none; the text comes from strangers. */
export function parseManifest(text: string): SegmentsManifest | string {
  const value = tryBoundedJson(text, LIMITS)
  try {
    return readManifest(value)
  } catch (error) {
    if (error instanceof ManifestFault) return error.message
    throw error
  }
}

class ManifestFault extends Error {}

function readManifest(value: unknown): SegmentsManifest {
  const top = members(value, 'the manifest', [
    'format',
    'formatVersion',
    'chainId',
    'segmentsId',
    'branch',
    'base',
    'oldest',
    'latest',
    'mark',
    'files',
  ])
  if (top.format !== FORMAT) throw new ManifestFault(`its format is not ${FORMAT}`)
  if (top.formatVersion !== FORMAT_VERSION) {
    throw new ManifestFault(`it has a format version that this program does not read; it reads ${FORMAT_VERSION}`)
  }
  const base = members(top.base, 'base', ['version', 'complete'])
  if (typeof base.complete !== 'boolean') throw new ManifestFault('base.complete is not true or false')
  const [oldest, latest] = [readVersion(top.oldest, 'oldest'), readVersion(top.latest, 'latest')]
  const truncations = array(top.branch, 'branch', MOST_TRUNCATIONS).map((one) => {
    const [number, version] = array(one, 'branch', 2)
    return { number: count(number, 'branch', MOST_TRUNCATION_NUMBER), version: u64(version, 'branch') }
  })
  const mark = hex(top.mark, 'mark', MOST_MARK_BYTES)
  const ledger = {
    chainId: u64(top.chainId, 'chainId'),
    latestVersion: latest.version,
    latestBlock: latest.block,
    oldestVersion: oldest.version,
    oldestBlock: oldest.block,
  }
  const facts: StoreFacts = {
    segmentsId: u64(top.segmentsId, 'segmentsId'),
    ledger: truncations.length > 0 ? { ...ledger, truncations } : ledger,
    base: { version: u64(base.version, 'base.version'), complete: base.complete },
    mark: mark.length > 0 ? Uint8Array.from(mark) : undefined,
  }
  if (facts.base.version > oldest.version || oldest.version > latest.version) {
    throw new ManifestFault('its versions do not ascend')
  }
  // Reads take every version above a later truncation of the list for cut off.
  const isOrdered = truncations.every(({ number, version }, at) => {
    const before = truncations[at - 1] ?? { number: 0, version: -1n }
    return number > before.number && version > before.version && version <= latest.version
  })
  if (!isOrdered) throw new ManifestFault('its truncations do not ascend')
  const files = array(top.files, 'files', MOST_FILES).map(readFile)
  if (files.length === 0) throw new ManifestFault('it names no files')
  if (new Set(files.map(({ sha256 }) => sha256)).size !== files.length) throw new ManifestFault('it names a file twice')
  return { facts, files }
}

function readVersion(value: unknown, name: string): { readonly version: bigint; readonly block: BlockInfo } {
  const found = members(value, name, ['version', 'height', 'epoch', 'timestampUsec'])
  const block = {
    height: u64(found.height, `${name}.height`),
    epoch: u64(found.epoch, `${name}.epoch`),
    timestampUsec: u64(found.timestampUsec, `${name}.timestampUsec`),
  }
  return { version: u64(found.version, `${name}.version`), block }
}

const FILE_MEMBERS = [
  'name',
  'sha256',
  'bytes',
  'level',
  'isBase',
  'writes',
  'keys',
  'firstKey',
  'lastKey',
  'firstVersion',
  'lastVersion',
  'until',
] as const
const MOST_KEY_BYTES = 32

function readFile(value: unknown, at: number): ManifestFile {
  const name = `file ${at}`
  const found = members(value, name, FILE_MEMBERS)
  const sha256 = found.sha256
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw new ManifestFault(`${name} has no SHA-256`)
  if (found.name !== nameOfFile({ sha256 })) throw new ManifestFault(`the name of ${name} does not match its hash`)
  if (typeof found.isBase !== 'boolean') throw new ManifestFault(`${name}: isBase is not true or false`)
  const [firstVersion, lastVersion, until] = [
    u64(found.firstVersion, name),
    u64(found.lastVersion, name),
    u64(found.until, name),
  ]
  if (firstVersion > until || until > lastVersion) throw new ManifestFault(`the versions of ${name} do not ascend`)
  return {
    sha256,
    bytes: count(found.bytes, name, MOST_FILE_BYTES),
    firstVersion,
    lastVersion,
    until,
    level: count(found.level, name, 255),
    isBase: found.isBase,
    writes: count(found.writes, name, Number.MAX_SAFE_INTEGER),
    keys: count(found.keys, name, Number.MAX_SAFE_INTEGER),
    firstKey: hex(found.firstKey, name, MOST_KEY_BYTES).toString('hex'),
    lastKey: hex(found.lastKey, name, MOST_KEY_BYTES).toString('hex'),
  }
}

/** The members of an object that has these and no others. */
function members<K extends string>(value: unknown, name: string, names: readonly K[]): Record<K, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ManifestFault(`${name} is not an object`)
  const found = Object.keys(value)
  const missing = names.find((one) => !Object.hasOwn(value, one))
  if (missing !== undefined) throw new ManifestFault(`${name} has no member "${missing}"`)
  if (found.length !== names.length) throw new ManifestFault(`${name} has members that this program does not know`)
  return value as Record<K, unknown>
}

function array(value: unknown, name: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new ManifestFault(`${name} is not an array`)
  if (value.length > most) throw new ManifestFault(`${name} has more than ${most} elements`)
  return value
}

function u64(value: unknown, name: string): bigint {
  const isNumber = typeof value === 'string' && /^(0|[1-9]\d{0,19})$/.test(value)
  if (!isNumber || BigInt(value) >= 2n ** 64n) throw new ManifestFault(`${name} is not a number of 64 bits in quotes`)
  return BigInt(value)
}

function count(value: unknown, name: string, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > most) {
    throw new ManifestFault(`${name} has a count that is not a whole number up to ${most}`)
  }
  return value as number
}

function hex(value: unknown, name: string, mostBytes: number): Buffer {
  if (typeof value !== 'string' || value.length > 2 * mostBytes || !/^(?:[0-9a-f]{2})*$/.test(value)) {
    throw new ManifestFault(`${name} is not hex of at most ${mostBytes} bytes`)
  }
  return Buffer.from(value, 'hex')
}
