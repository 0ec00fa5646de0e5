import fc from 'fast-check'

/** Versions to commit, before they have numbers. */
export interface PlannedVersion {
  readonly writes: readonly (readonly [keyNumber: number, value: Uint8Array | null])[]
  readonly beginsBlock: boolean
}

export const CHAIN = { chainId: 7 }

export function text(value: string): Uint8Array {
  return Uint8Array.from(Buffer.from(value))
}

/** Keys: empty, prefixes of each other, about as long as LMDB's limit, and longer with a common beginning. */
export const KEYS: readonly Uint8Array[] = [
  new Uint8Array(0),
  text('a'),
  text('ab'),
  text('b'),
  Uint8Array.of(255),
  new Uint8Array(1_900).fill(97),
  new Uint8Array(1_901).fill(97),
  ...[98, 99, 100].map((last) => Uint8Array.from({ length: 5_000 }, (_, at) => (at < 4_999 ? 97 : last))),
]

const PREFIXES = [KEYS[0]!, KEYS[1]!, KEYS[2]!, Uint8Array.of(255), new Uint8Array(1_950).fill(97)]
/** Lengths of values, around those at which a value moves out of its record, and into another page. */
const LENGTHS = [0, 1, 12, 1_400, 1_401, 3_700, 3_701, 4_068, 4_069, 9_000]

export const keyNumber = fc.nat(KEYS.length - 1)
export const prefix = fc.constantFrom(...PREFIXES)
/** A part of the window: see `RandomHistory.versionAt`. */
export const thousandths = fc.nat(1_000)
export const firstVersion = fc.constantFrom(0n, 5n, 2n ** 32n - 20n, 2n ** 64n - 1_501n)

export function plannedVersions(values: readonly Uint8Array[]): fc.Arbitrary<PlannedVersion[]> {
  const bytes = fc.oneof(
    { weight: 4, arbitrary: fc.uint8Array({ maxLength: 12 }) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...LENGTHS), fc.nat(255)).map(([count, byte]) => {
        return new Uint8Array(count).fill(byte)
      }),
    },
    ...(values.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...values) }] : []),
  )
  const value = fc.option(bytes, { freq: 4, nil: null })
  const writes = fc.uniqueArray(fc.tuple(keyNumber, value), { selector: ([at]) => at, maxLength: 4 })
  return fc.array(fc.record({ writes, beginsBlock: fc.boolean() }), { minLength: 1, maxLength: 6 })
}

/** Versions that write one key many times, so that its history takes many records. */
export const burst: fc.Arbitrary<PlannedVersion[]> = fc
  .record({ key: keyNumber, count: fc.integer({ min: 20, max: 700 }), every: fc.nat(2), deletes: fc.boolean() })
  .map(({ key, count, every, deletes }) => {
    const versions = Array.from({ length: count }, (_, number): PlannedVersion => {
      const writes = number % (every + 1) === 0 ? [[key, text(`${number}`)] as const] : []
      return { writes, beginsBlock: number % 20 === 0 }
    })
    return deletes ? [...versions, { writes: [[key, null]], beginsBlock: true }] : versions
  })
