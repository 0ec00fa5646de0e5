// A ledger whose values at every version are computed, not stored: for tests with several processes.

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

export function knownKeys(): Uint8Array[] {
  return [bytes('hot'), ...Array.from({ length: KEYS }, (_, at) => bytes(`key ${at}`))]
}

function value(version: bigint): Uint8Array {
  // Some are long enough to be kept in pieces.
  const length = version % 11n === 0n ? 6_000 : version % 5n === 0n ? 1_500 : 10
  return bytes(`${version} `.padEnd(length, '.'))
}

/** Every version writes the hot key and one other; every third of these is a deletion. */
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

/** The value of a key at a version, if the ledger begins with version 0. */
export function knownValue(key: Uint8Array, version: bigint): Uint8Array | undefined {
  for (let at = version; at >= 0n; at--) {
    const write = knownVersion(at).writes.find(([written]) => Buffer.compare(written, key) === 0)
    if (write) return write[1] ?? undefined
  }
  return undefined
}

/** One line for each key whose value in a view is wrong. */
export function differences(view: {
  readonly version: bigint
  get(key: Uint8Array): Uint8Array | undefined
}): string[] {
  return knownKeys().flatMap((key) => {
    const found = view.get(key)
    const expected = knownValue(key, view.version)
    const same = found && expected ? Buffer.compare(found, expected) === 0 : found === expected
    return same ? [] : [`${Buffer.from(key)} at ${view.version}: ${Buffer.from(found ?? []).subarray(0, 20)}`]
  })
}
