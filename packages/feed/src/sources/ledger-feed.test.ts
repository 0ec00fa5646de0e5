import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { VersionWrites } from '@ledger-state/core'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { feedHeaderLine, stateToFeedLine, versionToFeedLine } from '../wire/feed-line-writer.js'
import { openSource } from './open-source.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'feed-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const HEADER = '{"format":"ledger-feed","format_version":1,"chain_id":4}'
const BLOCK = '"block":{"height":"0","epoch":"0","timestamp_usec":"0"}'
const ROWS = [
  `{"version":"0",${BLOCK},"writes":[["0x01","0xff"],["0x","0x"]]}`,
  '{"version":"1","writes":[["0x01",null]]}',
]

function feedFile(content: string | Uint8Array): string {
  const path = join(folder, 'feed')
  writeFileSync(path, content)
  return path
}

async function readAll(path: string): Promise<VersionWrites[]> {
  const source = await openSource(path)
  try {
    const records: VersionWrites[] = []
    for await (const record of source.versions()) records.push(record)
    return records
  } finally {
    await source.close()
  }
}

describe('a ledger feed', () => {
  it('is read alike plain and compressed, with and without a last line end', async () => {
    const text = [HEADER, ...ROWS, ''].join('\n')
    const expected = [
      {
        version: 0n,
        block: { height: 0n, epoch: 0n, timestampUsec: 0n },
        writes: [
          [Uint8Array.of(1), Uint8Array.of(255)],
          [new Uint8Array(0), new Uint8Array(0)],
        ],
      },
      { version: 1n, block: undefined, writes: [[Uint8Array.of(1), null]] },
    ]
    const windows = `\ufeff${text.replaceAll('\n', '\r\n')}\r\n`
    const spaced = `\n ${text}\n\t\n`
    const texts = [text, text.trimEnd(), windows, spaced, `\ufeff\n${text}`]
    for (const content of [...texts, ...texts.map((one) => gzipSync(one)), zstdCompressSync(windows)])
      expect(await readAll(feedFile(content))).toEqual(expected)
  })

  it('has the chain id, its position and its progress', async () => {
    const path = feedFile([HEADER, ...ROWS].join('\n'))
    const source = await openSource(path)
    expect(source.chainId).toBe(4)
    const places: string[] = []
    for await (const record of source.versions()) places.push(`${record.version} on ${source.position}`)
    expect(places).toEqual([`0 on ${path}, line 2`, `1 on ${path}, line 3`])
    expect(source.progress.done).toBe(source.progress.total)
    await source.close()
  })

  it.each([
    ['line 1', '{"format":"other"}'],
    ['line 1', HEADER.replace('4}', '"4"}')],
    ['line 1', HEADER.replace('4}', '256}')],
    ['line 2', `${HEADER}\n[]`],
    ['line 2', `${HEADER}\n`.concat('{"version":0,"writes":[]}')],
    ['line 2', `${HEADER}\n{"version":"-1","writes":[]}`],
    ['line 2', `${HEADER}\n{"version":"0","writes":{}}`],
    ['line 2', `${HEADER}\n{"version":"0","writes":[["0x01"]]}`],
    ['line 2', `${HEADER}\n{"version":"0","writes":[["01","0x"]]}`],
    ['line 2', `${HEADER}\n{"version":"0","writes":[["0x0","0x"]]}`],
    ['line 2', `${HEADER}\n{"version":"0","writes":[["0x01",1]]}`],
    ['line 2', `${HEADER}\n{"version":"0","block":{"height":"0"},"writes":[]}`],
    ['line 2', `${HEADER}\n{"version":"0","block":[],"writes":[]}`],
    ['line 3', `${HEADER}\n${ROWS[0]}\n{"version":"2","writes":[]}`],
    ['line 3', `${HEADER}\n${ROWS[0]}\n{"version":"0","writes":[]}`],
    ['line 3', `${HEADER}\n${ROWS[0]}\n${ROWS[1]!.slice(0, 20)}`],
    ['line 5', `\n${HEADER}\n\n${ROWS[0]}\n\u00a0x`],
    ['line 2', `${HEADER}\n{"version":"0","writes":${'['.repeat(100_000)}`],
    ['line 2', `${HEADER}\n{"version":"0","writes":[${'0,'.repeat(5_000_000)}`],
    ['line 1002', `${HEADER}${'\n'.repeat(100_000)}`],
  ])('names %s of %j', async (place, text) => {
    await expect(readAll(feedFile(text))).rejects.toMatchObject({
      code: 'invalid_feed',
      message: expect.stringContaining(`${place}:`),
    })
  })

  it('holds at most a million values in a line', async () => {
    const text = `${HEADER}\n{"version":"0","writes":[${'0,'.repeat(1_000_000)}0]}`
    await expect(readAll(feedFile(text))).rejects.toThrow(/more than 1000000 values/)
  })

  it('names the line at which a compressed file is cut short or damaged', async () => {
    const many = Array.from(
      { length: 5_000 },
      (_, at) => `{"version":"${at}","writes":[["0x${at.toString(16).padStart(8, '0')}","0x00"]]}`,
    )
    const whole = gzipSync([HEADER, ...many].join('\n'))
    await expect(readAll(feedFile(whole.subarray(0, whole.length >> 1)))).rejects.toMatchObject({
      code: 'invalid_feed',
      message: expect.stringMatching(/, line \d+: the rest of the file cannot be read: unexpected end of file$/),
    })
    whole[whole.length >> 1]! ^= 0xff
    await expect(readAll(feedFile(whole))).rejects.toMatchObject({ code: 'invalid_feed' })
  })

  it('can be closed before its end', async () => {
    const source = await openSource(feedFile([HEADER, ...ROWS].join('\n')))
    await source.close()
  })
})

describe('a ledger feed that begins with a state', () => {
  const block = { height: 3n, epoch: 1n, timestampUsec: 7n }
  const entry = (at: number) => ({ key: Uint8Array.of(at), value: Uint8Array.of(at, at), version: BigInt(at) })
  const header = feedHeaderLine({ chainId: 4, base: { version: 9n, block, complete: true } })
  const states = [[entry(1), entry(2)], [entry(3)], [entry(4), entry(9)]]
  const versions: VersionWrites[] = [
    { version: 10n, block: undefined, writes: [[Uint8Array.of(1), null]] },
    { version: 11n, block: { ...block, height: 4n }, writes: [] },
  ]
  const lines = [header, ...states.map((one) => stateToFeedLine(one)), ...versions.map(versionToFeedLine)]

  it('gives both, or only the versions', async () => {
    const source = await openSource(feedFile(lines.join('\n')))
    const entries = []
    const marks: Uint8Array[] = []
    for await (const part of source.base!.parts(undefined)) {
      entries.push(...part.entries)
      marks.push(part.mark)
    }
    expect(entries).toEqual(states.flat())
    expect(source.base!.describe()).toEqual({ chainId: 4, block, mark: undefined })
    const records = []
    for await (const record of source.versions()) records.push(record)
    expect(records).toEqual(versions)
    await source.close()
    expect(await readAll(feedFile(lines.join('\n')))).toEqual(versions)
    const again = await openSource(feedFile(lines.join('\n')))
    const rest = []
    for await (const part of again.base!.parts(marks[0])) rest.push(...part.entries)
    expect(rest).toEqual(states.slice(1).flat())
    await again.close()
  })

  it('does not resume an import that began with another source', async () => {
    const partsAfter = async (text: readonly string[], mark: Uint8Array) => {
      const source = await openSource(feedFile(text.join('\n')))
      const entries = []
      try {
        for await (const part of source.base!.parts(mark)) entries.push(...part.entries)
      } finally {
        await source.close()
      }
      return entries
    }
    const begun = await openSource(feedFile(lines.join('\n')))
    const marks: Uint8Array[] = []
    for await (const part of begun.base!.parts(undefined)) marks.push(part.mark)
    await begun.close()
    // The root of the state of a snapshot, with which the mark of its import begins.
    const ofSnapshot = new Uint8Array(60).fill(7)
    const otherLines = [header, stateToFeedLine([entry(1)]), stateToFeedLine([entry(2), entry(3)])]
    const blankLine = [header, ...lines.slice(1, 3), '', ...lines.slice(3)]
    // A file that was made again, with the same keys.
    const otherValue = [
      lines[0]!,
      stateToFeedLine([entry(1), { ...entry(2), value: entry(3).value }]),
      ...lines.slice(2),
    ]
    for (const [text, mark] of [
      [lines, ofSnapshot],
      [lines, Uint8Array.of(7)],
      [otherLines, marks[0]!],
      [otherLines, marks[2]!],
      [[...otherLines, versionToFeedLine(versions[0]!)], marks[2]!],
      [blankLine, marks[2]!],
      [otherValue, marks[0]!],
      [otherValue, marks[2]!],
    ] as const) {
      await expect(partsAfter(text, mark)).rejects.toMatchObject({
        code: 'invalid_feed',
        message: expect.stringMatching(/does not continue the interrupted import: resume it from the source/),
      })
    }
    expect(await partsAfter(lines, marks.at(-1)!)).toEqual([])
  })

  it.each([
    ['line 1', [header.replace('"9"', '9')]],
    ['line 1', [header.replace('"block"', '"blocks"')]],
    ['line 1', [header.replace('"complete":true', '"complete":1')]],
    ['line 2', [header, '{"state":[["0x01","0x02"]]}']],
    ['line 2', [header, '{"state":[["0x01","0x02","10"]]}']],
    ['line 2', [header, '{"state":{}}']],
    ['line 3', [header, stateToFeedLine(states[0]!), versionToFeedLine(versions[1]!)]],
    ['line 3', [header, versionToFeedLine(versions[0]!), stateToFeedLine(states[0]!)]],
  ])('names %s of %j', async (place, text) => {
    const reading = async () => {
      const source = await openSource(feedFile(text.join('\n')))
      try {
        for await (const _ of source.base!.parts(undefined));
        for await (const _ of source.versions());
      } finally {
        await source.close()
      }
    }
    await expect(reading()).rejects.toMatchObject({
      code: 'invalid_feed',
      message: expect.stringContaining(`${place}:`),
    })
  })

  it('reads any feed that it writes', async () => {
    const bytes = fc.uint8Array({ maxLength: 20 })
    const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
    const someBlock = fc.option(fc.record({ height: u64, epoch: u64, timestampUsec: u64 }), { nil: undefined })
    const writes = fc.array(fc.tuple(bytes, fc.option(bytes)))
    const rows = fc.array(fc.record({ block: someBlock, writes }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(rows, fc.nat(255), async (some, chainId) => {
        const records = some.map((row, at) => ({ version: BigInt(at), ...row }))
        const path = feedFile([feedHeaderLine({ chainId }), ...records.map(versionToFeedLine)].join('\n'))
        expect(await readAll(path)).toEqual(records)
      }),
      { numRuns: isSlowRun ? 50 : 20 },
    )
  })
})

describe('openSource', () => {
  it('says which line it cannot read', async () => {
    await expect(openSource(join(folder, 'absent'))).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('there is no such file or folder'),
    })
    await expect(openSource(feedFile(''))).rejects.toMatchObject({ message: expect.stringContaining('is empty') })
    await expect(openSource(folder)).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

describe.skipIf(!hasSharedData)('real data', () => {
  it.each([
    ['mainnet', 1, 1394],
    ['testnet', 2, 128],
    ['devnet', 243, 302],
  ])('reads the genesis of %s', async (name, chainId, writes) => {
    const source = await openSource(sharedPath(`data/genesis/${name}.genesis.blob`))
    expect(source.chainId).toBe(chainId)
    const [record, ...more] = await readAll(sharedPath(`data/genesis/${name}.genesis.blob`))
    expect(more).toEqual([])
    expect(record).toMatchObject({ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n } })
    expect(record!.writes.length).toBe(writes)
  })

  it('reads the feed of the test network, whose version 0 is its genesis', async () => {
    const records = await readAll(sharedPath('data/testnet-0-3.feed.ndjson.gz'))
    expect(records.map(({ version }) => version)).toEqual([0n, 1n, 2n, 3n])
    const [genesis] = await readAll(sharedPath('data/genesis/testnet.genesis.blob'))
    const sorted = ({ writes }: VersionWrites) =>
      writes.map(([key, value]) => [key, value].map((bytes) => bytes && Buffer.from(bytes).toString('hex'))).sort()
    expect(sorted(records[0]!)).toEqual(sorted(genesis!))
  })
})

it('the head of a feed may say the word before the names of the hashes, unless the caller does', async () => {
  const withSalt = `${[feedHeaderLine({ chainId: 4, hashSalt: 'OTHER::' }), ...ROWS].join('\n')}\n`
  expect(withSalt).toContain('"chain_id":4,"hash_salt":"OTHER::"}')
  for (const [text, given, expected] of [
    [withSalt, undefined, 'OTHER::'],
    [withSalt, 'MINE::', 'MINE::'],
    [`${[HEADER, ...ROWS].join('\n')}\n`, undefined, undefined],
    [`${[HEADER, ...ROWS].join('\n')}\n`, 'MINE::', 'MINE::'],
  ] as const) {
    const source = await openSource(feedFile(text), { hashSalt: given })
    expect(source.hashSalt).toBe(expected)
    await source.close()
  }
  for (const salt of ['7', 'null', `"${'x'.repeat(101)}"`]) {
    const path = feedFile(HEADER.replace('}', `,"hash_salt":${salt}}`))
    await expect(openSource(path)).rejects.toMatchObject({
      code: 'invalid_feed',
      message: expect.stringContaining('the member "hash_salt" is not a text of at most 100 characters'),
    })
  }
})
