import type { Truncation } from '@ledger-state/engine'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeManifest, parseManifest, type SegmentsManifest } from './segments-manifest.js'

const u64s = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const ascending = (count: number) =>
  fc
    .array(u64s, { minLength: count, maxLength: count })
    .map((all) => all.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
const blocks = fc.record({ height: u64s, epoch: u64s, timestampUsec: u64s })
const hex = (bytes: { minLength?: number; maxLength: number }) =>
  fc.uint8Array(bytes).map((content) => Buffer.from(content).toString('hex'))
const counts = fc.nat()
const files = fc
  .record({
    versions: ascending(3),
    sha256: hex({ minLength: 32, maxLength: 32 }),
    bytes: counts,
    level: fc.nat({ max: 255 }),
    isBase: fc.boolean(),
    writes: counts,
    keys: counts,
    firstKey: hex({ maxLength: 32 }),
    lastKey: hex({ maxLength: 32 }),
  })
  .map(({ versions: [firstVersion, until, lastVersion], ...file }) => ({
    ...file,
    firstVersion: firstVersion!,
    until: until!,
    lastVersion: lastVersion!,
  }))
/** Those of the truncations that may follow each other below a version. */
function ascendingCuts(cuts: readonly Truncation[], latest: bigint): Truncation[] {
  const kept: Truncation[] = []
  for (const cut of cuts) {
    const { number, version } = kept.at(-1) ?? { number: 0, version: -1n }
    if (cut.number > number && cut.version > version && cut.version <= latest) kept.push(cut)
  }
  return kept
}

const withTruncations = (truncations: Truncation[]) => (truncations.length > 0 ? { truncations } : {})

const manifests: fc.Arbitrary<SegmentsManifest> = fc
  .record({
    versions: ascending(3),
    blocks: fc.tuple(blocks, blocks),
    chainId: u64s,
    segmentsId: u64s,
    complete: fc.boolean(),
    mark: fc.option(fc.uint8Array({ minLength: 1, maxLength: 40 }), { nil: undefined }),
    cuts: fc.array(fc.record({ number: fc.integer({ min: 1, max: 2 ** 48 }), version: u64s }), { maxLength: 3 }),
    files: fc.uniqueArray(files, { minLength: 1, maxLength: 5, selector: ({ sha256 }) => sha256 }),
  })
  .map(({ versions: [base, oldest, latest], blocks: [oldestBlock, latestBlock], cuts, ...rest }) => ({
    facts: {
      segmentsId: rest.segmentsId,
      ledger: {
        chainId: rest.chainId,
        latestVersion: latest!,
        latestBlock,
        oldestVersion: oldest!,
        oldestBlock,
        ...withTruncations(ascendingCuts(cuts, latest!)),
      },
      base: { version: base!, complete: rest.complete },
      mark: rest.mark,
    },
    files: rest.files,
  }))

it('a manifest is read as it was written, and the same store has the same text', () => {
  fc.assert(
    fc.property(manifests, (manifest) => {
      const text = encodeManifest(manifest)
      const parsed = parseManifest(text)
      expect(parsed).toEqual(manifest)
      expect(encodeManifest(parsed as SegmentsManifest)).toBe(text)
    }),
  )
})

it('a changed text is another manifest, or none: it never throws', () => {
  const edits = fc.record({ at: fc.nat(), remove: fc.nat({ max: 30 }), put: fc.string({ maxLength: 6 }) })
  fc.assert(
    fc.property(manifests, edits, (manifest, { at, remove, put }) => {
      const text = encodeManifest(manifest)
      const start = at % text.length
      const parsed = parseManifest(text.slice(0, start) + put + text.slice(start + remove))
      if (typeof parsed === 'string') return
      // A manifest has one form.
      expect(parseManifest(encodeManifest(parsed))).toEqual(parsed)
    }),
  )
})

it.each([
  ['', /not an object/],
  ['[]', /not an object/],
  ['{}', /no member "format"/],
  ['[[[[[[]]]]]]', /not an object/],
  [`[${'0,'.repeat(2_000_000)}0]`, /not an object/],
])('a text that is no manifest is refused', (text, why) => {
  expect(parseManifest(text)).toMatch(why)
})

it('names lead nowhere else, and versions and members are known to this program', () => {
  const [manifest] = fc.sample(manifests, { numRuns: 1, seed: 5 })
  const text = encodeManifest(manifest!)
  const cases: [string | RegExp, string, RegExp][] = [
    [/"name":"segment-/, '"name":"../segment-', /the name of file 0 does not match its hash/],
    ['"formatVersion": 1', '"formatVersion": 2', /format version/],
    ['"format": ', '"extra": 1,\n  "format": ', /members that this program does not know/],
    [/"level":\d+/, '"level":256', /a count that is not/],
    [/"bytes":\d+/, '"bytes":-1', /a count that is not/],
    [/"chainId": "\d+"/, '"chainId": "18446744073709551616"', /not a number of 64 bits/],
    [/"complete":(true|false)/, '"complete":1', /not true or false/],
  ]
  for (const [from, to, why] of cases) {
    const changed = text.replace(from, to)
    expect(changed).not.toBe(text)
    expect(parseManifest(changed)).toMatch(why)
  }
})

it.each([
  [
    'the same number twice',
    [
      [1, '3'],
      [1, '4'],
    ],
  ],
  ['the number 0', [[0, '3']]],
  ['a number after which none can be counted', [[Number.MAX_SAFE_INTEGER, '3']]],
  [
    'a lower number later',
    [
      [5, '3'],
      [3, '4'],
    ],
  ],
  [
    'a lower version later, which would cut off what was written since',
    [
      [1, '4'],
      [2, '3'],
    ],
  ],
  ['a version above the latest', [[1, '18446744073709551615']]],
])('truncations with %s are refused', (_, branch) => {
  const [made] = fc.sample(manifests, { numRuns: 1, seed: 5 })
  const { facts, files } = made!
  const ledger = { ...facts.ledger, latestVersion: 2n ** 63n, truncations: [{ number: 1, version: 3n }] }
  const base = { version: 0n, complete: true }
  const text = encodeManifest({ facts: { ...facts, base, ledger: { ...ledger, oldestVersion: 0n } }, files })
  expect(parseManifest(text)).toBeTypeOf('object')
  const changed = text.replace('[[1,"3"]]', JSON.stringify(branch))
  expect(changed).not.toBe(text)
  expect(parseManifest(changed)).toMatch(/truncations do not ascend|a count that is not/)
})
