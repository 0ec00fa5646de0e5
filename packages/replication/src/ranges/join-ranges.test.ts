import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { type IngestOptions, ingestSource, type KeptParts } from '@ledger-state/ingest'
import { decodeCommitMark, isOwnKey, TRANSACTIONS_KEY, WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { openStateEngine, openStateEngineReader, type StateEngineReader } from '@ledger-state/state-engine'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { afterEach, beforeEach, expect, it, onTestFailed, vi } from 'vitest'
import { joinRanges } from './join-ranges.js'

const ROUNDS = isSlowRun ? Math.max(3, scaledRounds(12)) : 1

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ranges-'))
  // Short commits, so that a range has many.
  vi.stubEnv('LEDGER_STATE_BATCH_VERSIONS', '7')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string) => join(folder, name)

interface Made {
  readonly chain: SyntheticChain
  readonly backup: string
  readonly waypoint: string
}

function makeBackup(random: Random, blocks: number, name = 'backup'): Made {
  const chain = new SyntheticChain({ blocks, signers: true, seed: 1 + random.below(1_000) })
  // The end of an epoch that is the end of the chain is another one once the chain goes on.
  while (chain.endings().at(-1)?.version === chain.latestVersion) chain.extend(1)
  const backup = at(name)
  rmSync(backup, { recursive: true, force: true })
  writeBackup(chain, backup, { chunk: 5 + random.below(30), folder: 1 + random.below(3) })
  writeEndings(backup, chain.endings().map(signedLedgerInfo))
  return { chain, backup, waypoint: `0:${waypointHash(chain.endings()[0]!)}` }
}

async function ingest(path: string, { backup, waypoint }: Made, options: IngestOptions & SourceOptions, part: boolean) {
  const engine = openStateEngine({ path, durability: 'none', part, memtableBytes: 50_000 })
  const source = await openSource(backup, { thread: false, waypoints: [waypoint] })
  try {
    // Few transactions contain the chain id, so a short range needs to be told.
    await ingestSource(engine, source, { chainId: SYNTHETIC_CHAIN_ID, ...options })
    if (part && !options.signal?.aborted) await engine.compact()
  } finally {
    await source.close()
    await engine.close()
  }
}

/** Fills a range, and stops and continues at random commits. */
async function fillRange(
  path: string,
  made: Made,
  range: { from: bigint; to: bigint },
  random: Random,
  keepTransactions: KeptParts,
): Promise<void> {
  for (let stops = random.below(3); stops > 0; stops--) {
    const stop = new AbortController()
    let commits = 1 + random.below(3)
    const { signal } = stop
    const onCommit = () => {
      if (--commits === 0) stop.abort()
    }
    await ingest(path, made, { range, signal, keepTransactions, observer: observerOf(onCommit) }, true)
  }
  await ingest(path, made, { range, keepTransactions }, true)
}

function observerOf(onCommit: () => void): NonNullable<IngestOptions['observer']> {
  return { onCommit, onSourceProgress: () => {}, onPrune: () => {} }
}

/** The answers of a store about the ledger; not when it wrote its own keys. */
function answersOf(engine: StateEngineReader): unknown {
  const { oldestVersion, latestVersion } = engine.ledger!
  const name = (bytes: Uint8Array | null | undefined) => (bytes ? Buffer.from(bytes).toString('hex') : 'none')
  const keys = new Map<string, Uint8Array>()
  const versions = [...engine.versions(oldestVersion + 1n, latestVersion)].map(({ version, block, writes }) => {
    for (const [key] of writes) keys.set(name(key), key)
    const ledgers = writes.filter(([key]) => !isOwnKey(key))
    return [version, block, ledgers.map((write) => write.map(name)).toSorted()]
  })
  const states: unknown[] = []
  for (let version = oldestVersion; version <= latestVersion; version++) {
    const entries = [...engine.at(version).scan(new Uint8Array(0))]
    for (const { key } of entries) keys.set(name(key), key)
    const own = entries.filter(({ key }) => isOwnKey(key)).map(({ key, value }) => [name(key), name(value)])
    const others = entries.filter(({ key }) => !isOwnKey(key))
    states.push([
      engine.blockAt(version),
      others.map(({ key, value, version: written, annotation }) => [name(key), name(value), written, name(annotation)]),
      // A store learns the epoch changes with the commit that needs them first.
      own.filter(([key]) => !key!.startsWith('fe03')),
    ])
  }
  const histories = [...keys]
    .filter(([, key]) => !isOwnKey(key))
    .map(([, key]) => [name(key), [...engine.history(key)].map(({ version, value }) => [version, name(value)])])
  return { ledger: engine.ledger, base: engine.base, versions, states, histories: histories.toSorted() }
}

function fileHashes(path: string): readonly string[] {
  const engine = openStateEngineReader({ path })
  const hashes = engine
    .segments()
    .files.map((file) => createHash('sha256').update(readFileSync(file.path)).digest('hex'))
  void engine.close()
  return hashes
}

it.each(['none', 'summary'] as const)(
  'ranges of a backup that are filled independently, joined, answer as one ingest does (transactions: %s)',
  async (keepTransactions) => {
    const seed = testSeed()
    onTestFailed(() => console.error(`TEST_SEED=${seed} repeats the random choices of this test`))
    const random = createRandom(seed)
    for (let round = 0; round < ROUNDS; round++) {
      const made = makeBackup(random, 20 + random.below(30))
      const { latestVersion } = made.chain
      const whole = at(`${round} whole`)
      await ingest(whole, made, { keepTransactions, holdings: false }, false)
      const cuts = [
        ...new Set(Array.from({ length: 1 + random.below(4) }, () => 8 + random.below(Number(latestVersion) - 20))),
      ]
        .map(BigInt)
        .toSorted((a, b) => Number(a - b))
        .filter((cut, index, all) => index === 0 || cut - all[index - 1]! > 8n)
      const bounds = [0n, ...cuts, latestVersion + 1n]
      const parts: string[] = []
      for (const [index, from] of bounds.slice(0, -1).entries()) {
        const range = { from, to: bounds[index + 1]! - 1n }
        const path = at(`${round} range ${index}`)
        await fillRange(path, made, range, random, keepTransactions)
        parts.push(path)
        const again = at(`${round} again ${index}`)
        await fillRange(again, made, range, random, keepTransactions)
        expect(fileHashes(again)).toEqual(fileHashes(path))
      }
      const joined = at(`${round} joined`)
      const shuffled = parts.toSorted(() => random.below(3) - 1)
      expect(await joinRanges(shuffled, joined)).toMatchObject({ firstVersion: 0n, lastVersion: latestVersion })
      expect(existsSync(`${joined}.unfinished`)).toBe(false)
      const [first, second] = [openStateEngineReader({ path: joined }), openStateEngineReader({ path: whole })]
      expect(answersOf(first)).toEqual(answersOf(second))
      expect((await first.check()).problems).toEqual([])
      const [mark, markOfWhole] = [decodeCommitMark(first.mark), decodeCommitMark(second.mark)]
      expect(mark).toEqual({ ...markOfWhole, writesHash: undefined })
      expect(mark.signed?.version).toBe(latestVersion)
      await first.close()
      await second.close()
      // The backup goes on, and so does the store.
      made.chain.extend(6)
      rmSync(made.backup, { recursive: true })
      writeBackup(made.chain, made.backup, { chunk: 1_000 })
      writeEndings(made.backup, made.chain.endings().map(signedLedgerInfo))
      for (const path of [joined, whole]) await ingest(path, made, { keepTransactions, holdings: false }, false)
      const [later, laterWhole] = [openStateEngineReader({ path: joined }), openStateEngineReader({ path: whole })]
      expect(later.ledger!.latestVersion).toBe(made.chain.latestVersion)
      expect(answersOf(later)).toEqual(answersOf(laterWhole))
      await later.close()
      await laterWhole.close()
    }
  },
)

it('the transactions of joined ranges are kept since the first version, whole and as summaries', async () => {
  const made = makeBackup(createRandom(testSeed()), 24)
  await ingest(at('whole'), made, { holdings: false }, false)
  await ingest(at('a'), made, { range: { from: 0n, to: 19n } }, true)
  await ingest(at('b'), made, { range: { from: 20n, to: made.chain.latestVersion } }, true)
  await joinRanges([at('a'), at('b')], at('joined'))
  const sinceOf = (path: string) => {
    const engine = openStateEngineReader({ path })
    const since = [TRANSACTIONS_KEY, WHOLE_TRANSACTIONS_KEY].map((key) => engine.at().getEntry(key)?.version)
    void engine.close()
    return since
  }
  expect(sinceOf(at('whole'))).toEqual([0n, 0n])
  expect(sinceOf(at('joined'))).toEqual([0n, 0n])
})

it('ranges that do not fit together are refused by name, and leave nothing at the target', async () => {
  const random = createRandom(testSeed())
  const made = makeBackup(random, 20)
  const fill = async (name: string, from: bigint, to: bigint, of = made) => {
    await ingest(at(name), of, { range: { from, to } }, true)
    return at(name)
  }
  const { latestVersion } = made.chain
  const [first, second, third] = [
    await fill('a', 0n, 19n),
    await fill('b', 20n, 39n),
    await fill('c', 40n, latestVersion),
  ]
  // Another ledger with a block that begins at the same version.
  const begins = ({ chain }: Made) => chain.expected.find(({ version, block }) => version >= 20n && block)!.version
  let stranger = makeBackup(random, 20, 'other backup')
  while (begins(stranger) !== begins(made) || stranger.waypoint === made.waypoint) {
    stranger = makeBackup(random, 20, 'other backup')
  }
  const other = await fill('other', 20n, 39n, stranger)
  await ingest(at('whole'), made, {}, false)
  const summary = at('summary')
  await ingest(summary, made, { range: { from: 20n, to: 39n }, keepTransactions: 'summary' }, true)
  const cases: [string[], string, RegExp][] = [
    [
      [first, third],
      'version_gap',
      /c begins with version \d+, but .*a ends with version \d+: fill .* --range \d+-\d+$/,
    ],
    [[first, second, second], 'invalid_argument', /both have version/],
    [[first, other], 'ledger_fork', /other does not continue the ledger of .*a: the accumulator before version/],
    [[at('whole')], 'invalid_argument', /whole was not filled with a range: ledger-state ingest/],
    [[first, summary], 'invalid_argument', /keep different parts of transactions/],
  ]
  for (const [stores, code, message] of cases) {
    await expect(joinRanges(stores, at('out'))).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(existsSync(at('out'))).toBe(false)
  }
  // A range that was stopped, and one that is not compacted.
  const stop = new AbortController()
  const signal = stop.signal
  await ingest(
    at('cut'),
    made,
    { range: { from: 20n, to: 39n }, signal, observer: observerOf(() => stop.abort()) },
    true,
  )
  await expect(joinRanges([first, at('cut')], at('out'))).rejects.toThrow(
    /cut is not finished: run ledger-state ingest/,
  )
  await expect(ingest(at('b'), made, {}, false)).rejects.toThrow(/the store has the range 20-39 of a ledger/)
  await expect(ingest(at('b'), made, { range: { from: 0n, to: 39n } }, true)).rejects.toThrow(/is not the range 0-39/)
  // A verification that fails leaves nothing at the place; then another call completes.
  const verify = () => Promise.reject(new Error('the root differs'))
  await expect(joinRanges([first, second], at('out'), { verify })).rejects.toThrow('the root differs')
  expect(existsSync(at('out'))).toBe(false)
  const both = await Promise.allSettled([
    joinRanges([first, second, third], at('out')),
    joinRanges([first, second, third], at('out')),
  ])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'store_locked' } })
  await expect(joinRanges([first], at('out'))).rejects.toMatchObject({ code: 'store_not_empty' })
  // Ranges above the first, joined, are a range again.
  await joinRanges([third, second], at('upper'))
  await joinRanges([at('upper'), first], at('again'))
  const [out, again] = [openStateEngineReader({ path: at('out') }), openStateEngineReader({ path: at('again') })]
  expect(answersOf(again)).toEqual(answersOf(out))
  await out.close()
  await again.close()
})

it('a range in the folder in which the joined store would be put together keeps its files', async () => {
  const made = makeBackup(createRandom(1), 24)
  const range = (from: bigint, to: bigint) => ({ range: { from, to } })
  await ingest(at('first'), made, range(0n, 29n), true)
  await ingest(at('out.unfinished'), made, range(30n, made.chain.latestVersion), true)
  const folders = [at('first'), at('out.unfinished')]
  await expect(joinRanges(folders, at('out'))).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/out\.unfinished, which has a range: rename/),
  })
  expect(await joinRanges(folders, at('other'))).toMatchObject({ stores: 2, firstVersion: 0n })
})
