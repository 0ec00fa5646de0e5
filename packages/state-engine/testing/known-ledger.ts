// A ledger whose values at every version are computed, not stored, for tests with several processes.

import type { HistoryOptions, Revision } from '@ledger-state/engine'

export interface KnownWrite {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

const CHAIN_ID = 7
export const KNOWN_CHAIN = { chainId: CHAIN_ID }
export const BLOCK_VERSIONS = 5n
const KEYS = 12

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}

const KNOWN_KEYS: readonly Uint8Array[] = [bytes('hot'), ...Array.from({ length: KEYS }, (_, at) => bytes(`key ${at}`))]

export function knownKeys(): readonly Uint8Array[] {
  return KNOWN_KEYS
}

function value(version: bigint): Uint8Array {
  // Some values are long enough to be kept in pieces.
  const length = version % 11n === 0n ? 6_000 : version % 5n === 0n ? 1_500 : 10
  return bytes(`${version} `.padEnd(length, '.'))
}

/** Makes a version, which writes the hot key and another one. Every third write of the other keys is a deletion. */
export function knownVersion(version: bigint) {
  const block =
    version % BLOCK_VERSIONS === 0n
      ? { height: version / BLOCK_VERSIONS, epoch: 0n, timestampUsec: version }
      : undefined
  const other = bytes(`key ${(version * 7n) % BigInt(KEYS)}`)
  const writes = [
    [bytes('hot'), value(version)],
    [other, version % 3n === 0n ? null : value(version)],
  ] as const
  return { version, block, writes }
}

/** A write whose value is computed when it is asked for: there may be 10^6 of them. */
class KnownRevision implements Revision {
  readonly version: bigint
  readonly isDeletion: boolean

  constructor(version: bigint, isDeletion: boolean) {
    this.version = version
    this.isDeletion = isDeletion
  }

  get value(): Uint8Array | null {
    return this.isDeletion ? null : value(this.version)
  }
}

/** Writes of each key, ascending: listed once, up to the highest version that was asked for. */
const WRITES = new Map(knownKeys().map((key) => [nameOf(key), [] as KnownRevision[]]))
let listedVersions = 0n

function nameOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}

function writesOf(key: Uint8Array, last: bigint): readonly KnownRevision[] {
  for (; listedVersions <= last; listedVersions++) {
    for (const [written, value] of knownVersion(listedVersions).writes) {
      const writes = WRITES.get(nameOf(written))!
      const before = writes.at(-1)
      // A deletion of a key that does not exist is not a write.
      if (value !== null || before?.isDeletion === false) writes.push(new KnownRevision(listedVersions, value === null))
    }
  }
  return WRITES.get(nameOf(key))!
}

/** Value of a key at a version, if the ledger begins with version 0. */
export function knownValue(key: Uint8Array, version: bigint): Uint8Array | undefined {
  return writesOf(key, version).findLast((write) => write.version <= version)?.value ?? undefined
}

/** History of a key in a window, if the ledger begins with version 0. */
function knownHistory(key: Uint8Array, oldest: bigint, latest: bigint): Revision[] {
  const writes = writesOf(key, latest).filter(({ version }) => version <= latest)
  const first = writes.findLastIndex(({ version }) => version <= oldest)
  // The window sees only the newest of the writes up to the oldest version, and no deletion.
  return writes.filter(({ version, isDeletion }, at) => version > oldest || (at === first && !isDeletion))
}

function isSame(found: Uint8Array | null | undefined, expected: Uint8Array | null | undefined): boolean {
  return found && expected ? Buffer.compare(found, expected) === 0 : found === expected
}

/** Lists the keys whose values in a view are wrong, one a line. */
export function differences(view: {
  readonly version: bigint
  get(key: Uint8Array): Uint8Array | undefined
}): string[] {
  return knownKeys().flatMap((key) => {
    const found = view.get(key)
    if (isSame(found, knownValue(key, view.version))) return []
    return [`${Buffer.from(key)} at ${view.version}: ${Buffer.from(found ?? []).subarray(0, 20)}`]
  })
}

/** Lists the keys whose histories are wrong, one a line. */
export function historyDifferences(
  engine: { history(key: Uint8Array, options: HistoryOptions): Iterable<Revision> },
  { oldestVersion, latestVersion }: { readonly oldestVersion: bigint; readonly latestVersion: bigint },
): string[] {
  return knownKeys().flatMap((key) => {
    const found = [...engine.history(key, { order: 'asc' })]
    const expected = knownHistory(key, oldestVersion, latestVersion)
    const at = Array.from({ length: Math.max(found.length, expected.length) }, (_, index) => index).find(
      (index) =>
        found[index]?.version !== expected[index]?.version || !isSame(found[index]?.value, expected[index]?.value),
    )
    return at === undefined
      ? []
      : [`${Buffer.from(key)}: write ${at} is ${found[at]?.version}, not ${expected[at]?.version}`]
  })
}
