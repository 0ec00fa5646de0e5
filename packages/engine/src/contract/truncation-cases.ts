import assert from 'node:assert/strict'
import type { VersionWrites, Write } from '@ledger-state/core'
import type { LedgerSummary } from '../ports/state-port.js'
import type { ContractEngine } from './contract-engine.js'
import {
  block,
  bytes,
  CHAIN,
  type ContractCase,
  collect,
  contractCase,
  EMPTY,
  fails,
  rest,
  text,
  valueAt,
  version,
  versionsOf,
} from './support.js'

const K = bytes('k')
const KEYS = ['a', 'ab', 'b', 'c', 'd', 'e'].map(bytes)
/** Lengths of values that engines may store in different ways. */
const LENGTHS = [3, 1_500, 9_000]

/** Makes a version of a branch. Each key is written at other versions, and some of the writes are deletions. */
function branchVersion(number: bigint, branch: string): VersionWrites {
  const writes = KEYS.flatMap((key, at): Write[] => {
    const turn = (number * 7n + BigInt(at * 3)) % 5n
    if (turn > 1n) return []
    const length = LENGTHS[Number(number + BigInt(at)) % LENGTHS.length]!
    const isDeletion = turn === 1n && number % 2n === 1n
    return [[key, isDeletion ? null : bytes(`${branch}${number}`.padEnd(length, '.'))]]
  })
  return { ...version(number, ...writes), block: number % 3n === 0n ? block(number) : undefined }
}

function branchVersions(first: bigint, last: bigint, branch: string): VersionWrites[] {
  return Array.from({ length: Number(last - first) + 1 }, (_, at) => branchVersion(first + BigInt(at), branch))
}

/** Computes the value of a key after versions. */
function valueAfter(versions: readonly VersionWrites[], key: Uint8Array, at: bigint): string | undefined {
  for (const { version: number, writes } of [...versions].reverse()) {
    const write = number <= at ? writes.find(([written]) => text(written) === text(key)) : undefined
    if (write) return text(write[1]) ?? undefined
  }
  return undefined
}

/**
 * Checks that an engine answers every read as if only these versions, which begin with version 0, had been committed.
 */
async function expectLedger(engine: ContractEngine, versions: readonly VersionWrites[]): Promise<void> {
  const last = versions.at(-1)!.version
  const { oldestVersion, latestVersion, latestBlock } = (await engine.ledger())!
  const newest = versions.findLast((one) => one.block)!
  assert.deepEqual([latestVersion, latestBlock], [last, newest.block])
  await fails('version_not_found', () => engine.at(last + 1n))
  await fails('version_not_found', () => engine.blockAt(last + 1n))
  await fails('version_not_found', () => collect(engine.versions(oldestVersion + 1n, last + 1n)))
  for (let at = oldestVersion; at <= last; at++) {
    const view = await engine.at(at)
    const expected = KEYS.map((key) => valueAfter(versions, key, at))
    assert.deepEqual((await view.getMany(KEYS)).map(text), expected, `version ${at}`)
    const scanned = (await collect(view.scan(EMPTY))).map(({ value }) => text(value))
    assert.deepEqual(
      scanned,
      expected.filter((value) => value !== undefined),
      `version ${at}`,
    )
  }
  for (const key of KEYS) {
    const oldestFirst = await collect(engine.history(key, { first: oldestVersion + 1n, order: 'asc' }))
    const newestFirst = await collect(engine.history(key, { first: oldestVersion + 1n }))
    assert.deepEqual(newestFirst.reverse(), oldestFirst)
    const changes = versions.filter(({ version: at }) => {
      return at > oldestVersion && valueAfter(versions, key, at) !== valueAfter(versions, key, at - 1n)
    })
    assert.deepEqual(
      oldestFirst.map((revision) => [revision.version, text(revision.value) ?? undefined]),
      changes.map(({ version: at }) => [at, valueAfter(versions, key, at)]),
    )
  }
  if (last > oldestVersion) {
    const listed = await collect(engine.versions(oldestVersion + 1n, last))
    assert.deepEqual(
      listed.map((one) => one.block),
      versions.filter((one) => one.version > oldestVersion).map((one) => one.block),
    )
    for (const { version: at, writes } of listed) {
      for (const [key, value] of writes) assert.equal(text(value) ?? undefined, valueAfter(versions, key, at))
    }
  }
  const found = await engine.blockAt(last)
  assert.deepEqual(found, { firstVersion: newest.version, lastVersion: last, block: newest.block })
  assert.deepEqual(await engine.blockByHeight(newest.block!.height), found)
  assert.equal(await engine.blockByHeight(newest.block!.height + 3n), undefined)
  assert.deepEqual(await engine.blockAtTime(newest.block!.timestampUsec + 1_000n), found)
}

/**
 * Reads the first item of each list that includes versions to be cut off, calls `cut`, and checks that the lists are
 * then refused.
 */
async function expectRefusedLater(
  lists: Record<string, AsyncIterable<unknown>>,
  cut: () => Promise<void>,
): Promise<void> {
  const begun = Object.entries(lists).map(([name, list]) => [name, list[Symbol.asyncIterator]()] as const)
  for (const [name, iterator] of begun) assert.equal((await iterator.next()).done, false, name)
  await cut()
  for (const [name, iterator] of begun) {
    await fails('version_truncated', () => collect(rest(iterator)), /was cut off/).catch((error) => {
      throw new Error(`${name}: ${error.message}`, { cause: error })
    })
  }
}

export const TRUNCATION_CASES: readonly ContractCase[] = [
  contractCase('is after a truncation as if nothing later had been committed', async (opened, reopen) => {
    let engine = opened
    const all = branchVersions(0n, 20n, 'x')
    for (let first = 0; first < all.length; first += 4) await engine.commit(all.slice(first, first + 4), CHAIN)
    for (const last of [20, 18, 14, 9, 2, 0]) {
      await engine.truncateTo(BigInt(last))
      await expectLedger(engine, all.slice(0, last + 1))
      if (last % 3 !== 0) continue
      engine = await reopen()
      await expectLedger(engine, all.slice(0, last + 1))
    }
  }),

  contractCase('commits on after a truncation, with other values under the same numbers', async (engine, reopen) => {
    let all = branchVersions(0n, 20n, 'x')
    for (const one of all) await engine.commit([one], CHAIN)
    for (const [branch, last] of [
      ['y', 17n],
      ['z', 8n],
      ['u', 8n],
      ['v', 12n],
    ] as const) {
      await engine.truncateTo(last)
      const further = branchVersions(last + 1n, last + 8n, branch)
      all = [...all.slice(0, Number(last) + 1), ...further]
      await engine.commit(further.slice(0, 3), CHAIN)
      await engine.commit(further.slice(3), CHAIN)
      await expectLedger(engine, all)
    }
    await expectLedger(await reopen(), all)
  }),

  contractCase('truncates before commits that are called after it', async (engine) => {
    await engine.commit(branchVersions(0n, 20n, 'x'), CHAIN)
    const further = branchVersions(6n, 9n, 'y')
    await Promise.all([engine.truncateTo(5n), engine.commit(further.slice(0, 2), CHAIN)])
    await engine.commit(further.slice(2), CHAIN)
    await expectLedger(engine, [...branchVersions(0n, 5n, 'x'), ...further])
  }),

  contractCase('truncates to no version outside of the window, and then changes nothing', async (engine) => {
    await fails('no_ledger', () => engine.truncateTo(0n))
    const mark = bytes('mark')
    await engine.commit(versionsOf(K, 5n, ['a', 'b', 'c']), { ...CHAIN, mark })
    await engine.prune(2n)
    const before = await engine.ledger()
    await fails('version_pruned', () => engine.truncateTo(5n))
    await fails('version_not_found', () => engine.truncateTo(8n))
    // biome-ignore lint/suspicious/noExplicitAny: no type allows these calls
    const loose = engine as any
    for (const wrong of [undefined, null, 6, '6', -1n]) {
      await fails('invalid_argument', () => loose.truncateTo(wrong), /version/)
    }
    await fails('invalid_argument', () => loose.truncateTo(6n, 5), /options of the truncation/)
    await fails('invalid_argument', () => loose.truncateTo(6n, { mark: 'm' }), /mark/)
    assert.deepEqual(await engine.ledger(), before)
    assert.equal(text(await engine.mark()), 'mark')
    assert.equal(await valueAt(engine, K), 'c')
  }),

  contractCase('keeps the mark of a truncation, and no mark of a version that was cut off', async (engine, reopen) => {
    const commit = (number: bigint) => engine.commit([version(number)], { ...CHAIN, mark: bytes(`${number}`) })
    for (const number of [0n, 1n, 2n, 3n]) await commit(number)
    for (const [to, given] of [
      [2n, 'back at 2'],
      [1n, undefined],
      [1n, 'at 1'],
    ] as const) {
      const mark = given === undefined ? undefined : bytes(given)
      await engine.truncateTo(to, { mark })
      mark?.fill(0)
      assert.equal(text(await engine.mark()), given)
    }
    const reopened = await reopen()
    assert.equal(text(await reopened.mark()), 'at 1')
    await reopened.commit([version(2n)], CHAIN)
    assert.equal(await reopened.mark(), undefined)
  }),

  contractCase('ends views of versions that were cut off, for ever, and no others', async (engine) => {
    for (const one of versionsOf(K, 0n, ['a', 'b', 'c', 'd'])) await engine.commit([one], CHAIN)
    const [kept, last, cut] = [await engine.at(0n), await engine.at(1n), await engine.at(2n)]
    const newest = await engine.at()
    await engine.truncateTo(1n)
    const expectViews = async () => {
      assert.deepEqual([text(await kept.get(K)), text(await last.get(K))], ['a', 'b'])
      assert.equal((await collect(last.scan(EMPTY))).length, 1)
      for (const view of [cut, newest]) {
        await fails('version_truncated', () => view.get(K), /Ledger version\([23]\) was cut off/)
        await fails('version_truncated', () => view.getEntry(K))
        await fails('version_truncated', () => view.getMany([K]))
        await fails('version_truncated', () => view.has(K))
        await fails('version_truncated', () => collect(view.scan(EMPTY)))
      }
    }
    await expectViews()
    await engine.commit(versionsOf(K, 2n, ['C']), CHAIN)
    const second = await engine.at(2n)
    await engine.commit(versionsOf(K, 3n, ['D', 'E']), CHAIN)
    await expectViews()
    assert.deepEqual(await valueAt(engine, K, 2n), 'C')
    await engine.truncateTo(2n)
    await engine.commit(versionsOf(K, 3n, ['F']), CHAIN)
    await expectViews()
    assert.deepEqual([text(await second.get(K)), await valueAt(engine, K, 3n)], ['C', 'F'])
    await engine.truncateTo(1n)
    await fails('version_truncated', () => second.get(K))
  }),

  contractCase('ends lists of versions that are cut off in the middle', async (engine) => {
    const keys = Array.from({ length: 600 }, (_, at) => bytes(`k${at}`))
    const all = keys.map((key): Write => [key, bytes('old')])
    for (const number of [0n, 1n, 2n, 3n]) await engine.commit([version(number, ...all)], CHAIN)
    const lists = {
      scan: (await engine.at(2n)).scan(EMPTY),
      'history, newest first': engine.history(keys[0]!),
      'history, oldest first': engine.history(keys[0]!, { order: 'asc' }),
      versions: engine.versions(1n, 3n),
    }
    await expectRefusedLater(lists, async () => {
      await engine.truncateTo(1n)
      const others = keys.map((key): Write => [key, bytes('new')])
      for (const number of [2n, 3n, 4n]) await engine.commit([version(number, ...others)], CHAIN)
    })
  }),

  contractCase('continues with lists of the remaining versions', async (engine) => {
    const keys = Array.from({ length: 600 }, (_, at) => bytes(`k${at}`))
    const all = keys.map((key): Write => [key, bytes('old')])
    for (const number of [0n, 1n, 2n, 3n]) await engine.commit([version(number, ...all)], CHAIN)
    const lists: Record<string, readonly [AsyncIterator<unknown>, number]> = {
      scan: [(await engine.at(1n)).scan(EMPTY)[Symbol.asyncIterator](), 600],
      history: [engine.history(keys[0]!, { last: 2n })[Symbol.asyncIterator](), 3],
      versions: [engine.versions(1n, 2n)[Symbol.asyncIterator](), 2],
    }
    for (const [iterator] of Object.values(lists)) await iterator.next()
    await engine.truncateTo(2n)
    await engine.commit([version(3n, [keys[0]!, bytes('new')])], CHAIN)
    for (const [name, [iterator, count]] of Object.entries(lists)) {
      assert.equal((await collect(rest(iterator))).length, count - 1, name)
    }
  }),

  contractCase(
    'calls listeners after a truncation, and after a commit that is like the one before it',
    async (engine) => {
      await engine.commit(versionsOf(K, 0n, ['a', 'b', 'c']), CHAIN)
      const told: LedgerSummary[] = []
      const remove = engine.onCommit((ledger) => told.push(ledger))
      await engine.truncateTo(1n)
      await engine.commit(versionsOf(K, 2n, ['d']), CHAIN)
      await engine.truncateTo(2n)
      remove()
      await engine.truncateTo(0n)
      assert.deepEqual(
        told.map(({ latestVersion, truncations }) => [latestVersion, truncations?.length]),
        [
          [1n, 1],
          [2n, 1],
          [2n, 2],
        ],
      )
    },
  ),

  contractCase('lists truncations in the ledger, up to sixteen', async (engine, reopen) => {
    await engine.commit(versionsOf(K, 0n, new Array(60).fill('a')), CHAIN)
    assert.equal((await engine.ledger())!.truncations, undefined)
    const truncations = async () => (await engine.ledger())!.truncations?.map((one) => [one.number, one.version])
    await engine.truncateTo(50n)
    await engine.truncateTo(20n)
    assert.deepEqual(await truncations(), [[2, 20n]])
    await engine.commit(versionsOf(K, 21n, ['b', 'b', 'b', 'b']), CHAIN)
    await engine.truncateTo(23n)
    const expected = [
      [2, 20n],
      [3, 23n],
    ]
    assert.deepEqual(await truncations(), expected)
    assert.deepEqual(
      (await (await reopen()).ledger())!.truncations?.map((one) => [one.number, one.version]),
      expected,
    )
  }),

  contractCase(
    'refuses a view that outlives more truncations than the ledger lists, rather than answer wrong',
    async (engine) => {
      await engine.commit(versionsOf(K, 0n, ['a', 'b', 'c']), CHAIN)
      const [kept, cut] = [await engine.at(0n), await engine.at(2n)]
      await engine.truncateTo(1n)
      for (let number = 2n; number < 22n; number++) {
        await engine.commit(versionsOf(K, number, ['x', 'y']), CHAIN)
        await engine.truncateTo(number)
      }
      assert.equal((await engine.ledger())!.truncations!.length, 16)
      assert.equal(text(await kept.get(K)), 'a')
      await fails('version_truncated', () => cut.get(K))
      assert.equal(await valueAt(engine, K, 2n), 'x')
    },
  ),

  contractCase('prunes the remaining versions, and forgets only deletions of their branch', async (engine, reopen) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b']), CHAIN)
    // Both branches delete the key at version 4, and the window begins at 3.
    for (const one of versionsOf(K, 2n, [undefined, undefined, null, undefined])) await engine.commit([one], CHAIN)
    await engine.truncateTo(2n)
    for (const one of versionsOf(K, 3n, [undefined, null, undefined])) await engine.commit([one], CHAIN)
    assert.equal((await engine.prune(3n)).oldestVersion, 3n)
    assert.deepEqual([await valueAt(engine, K, 3n), await valueAt(engine, K, 4n)], ['b', undefined])
    await engine.truncateTo(3n)
    assert.equal(await valueAt(engine, K), 'b')
    await fails('version_pruned', () => engine.truncateTo(2n))
    await engine.commit(versionsOf(K, 4n, [undefined, 'c']), CHAIN)
    assert.equal((await engine.prune(1n)).done, true)
    assert.equal(await valueAt(engine, K), 'c')
    assert.equal(await valueAt(await reopen(), K), 'c')
  }),

  contractCase('truncates and prunes in turn for a long time', async (engine, reopen) => {
    let all: VersionWrites[] = []
    for (let round = 0; round < 12; round++) {
      const next = BigInt(all.length)
      const further = branchVersions(next, next + 9n, `r${round}-`)
      for (const one of [further.slice(0, 6), further.slice(6)]) await engine.commit(one, CHAIN)
      all = [...all, ...further]
      const { latestVersion } = (await engine.ledger())!
      if (round % 2 === 1) {
        const left = latestVersion - BigInt(3 * round)
        const { oldestVersion } = (await engine.ledger())!
        const to = left > oldestVersion ? left : oldestVersion
        await engine.truncateTo(to)
        all = all.slice(0, Number(to) + 1)
      }
      if (round % 3 === 2) await engine.prune(20n)
      if (round % 4 === 3) await expectLedger(engine, all)
    }
    await expectLedger(await reopen(), all)
  }),
]
