import assert from 'node:assert/strict'
import type { LedgerSummary } from '../ports/state-port.js'
import type { ContractEngine } from './contract-engine.js'
import {
  bytes,
  CHAIN,
  type ContractCase,
  collect,
  contractCase,
  EMPTY,
  fails,
  storeCase,
  uncaughtDuring,
  valueAt,
  version,
  versionsOf,
} from './support.js'

const K = bytes('k')

/** Calls that only JavaScript can make, each with an argument that is wrong, and words that its message must have. */
async function wrongCalls(
  engine: ContractEngine,
): Promise<readonly (readonly [work: () => unknown, message: RegExp])[]> {
  // biome-ignore lint/suspicious/noExplicitAny: no type allows these calls
  const loose = engine as any
  const view = await loose.at()
  const commit = (versions: unknown, options: unknown = CHAIN) => loose.commit(versions, options)
  const next = version(3n)
  return [
    [() => loose.at(1), /version is the number 1,/],
    [() => loose.at('1'), /version is the string "1",/],
    [() => loose.at(null), /version is null,/],
    [() => loose.at(-1n), /version is the bigint -1,/],
    [() => loose.blockAt(1), /version/],
    [() => loose.blockByHeight(1), /height/],
    [() => loose.blockAtTime(new Date()), /time is a value of type Date,/],
    [() => view.get('a'), /key is the string "a", expected a Uint8Array/],
    [() => view.get(), /key is undefined/],
    [() => view.get([1, 2]), /key is an array/],
    [() => view.peek('a'), /key/],
    [() => view.has('a'), /key/],
    [() => view.getEntry('a'), /key/],
    [() => view.getMany('ab'), /keys/],
    [() => view.getMany(['a']), /key/],
    [() => collect(view.scan('a')), /prefix/],
    [() => collect(view.scan(EMPTY, { start: 'a' })), /start/],
    [() => collect(view.scan(EMPTY, { limit: -1 })), /limit/],
    [() => collect(view.scan(EMPTY, { limit: Number.NaN })), /limit of the scan is the number NaN,/],
    [() => collect(view.scan(EMPTY, { limit: '5' })), /limit/],
    [() => collect(view.scan(EMPTY, 5)), /options/],
    [() => collect(loose.history('k')), /key/],
    [() => collect(loose.history(K, { first: 1 })), /first/],
    [() => collect(loose.history(K, { last: -1n })), /last/],
    [() => collect(loose.history(K, { order: 'newest' })), /order .* asc, desc/],
    [() => collect(loose.versions(1, 2n)), /first/],
    [() => collect(loose.versions(1n)), /last/],
    [() => loose.onCommit('log'), /listener/],
    [() => commit({}), /batch/],
    [() => commit(undefined), /batch/],
    [() => commit([undefined]), /element of the batch/],
    [() => commit([{ ...next, version: 3 }]), /version/],
    [() => commit([{ version: 3n }]), /writes/],
    [() => commit([{ ...next, writes: [[K]] }]), /value/],
    [() => commit([{ ...next, writes: [K] }]), /write/],
    [() => commit([{ ...next, writes: [['k', K]] }]), /key/],
    [() => commit([{ ...next, block: 3n }]), /block/],
    [() => commit([{ ...next, block: { height: 3n } }]), /epoch/],
    [() => commit([next], null), /options/],
    [() => commit([next], {}), /chain id is undefined/],
    [() => commit([next], { chainId: 1.5 }), /chain id/],
    [() => commit([next], { chainId: '7' }), /chain id/],
    [() => commit([next], { chainId: 7, mark: 'mark' }), /mark/],
    [() => loose.prune(), /retain/],
    [() => loose.prune(5), /retain/],
    [() => loose.prune(0n), /retain/],
    [() => loose.prune(1n, 5), /options/],
    [() => loose.prune(1n, { maxEntries: Number.NaN }), /maxEntries is the number NaN,/],
    [() => loose.prune(1n, { maxEntries: 0 }), /maxEntries/],
    [() => loose.prune(1n, { maxEntries: '5' }), /maxEntries/],
  ]
}

export const LIFECYCLE_CASES: readonly ContractCase[] = [
  contractCase('names the wrong argument, and does nothing', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b', 'c']), CHAIN)
    const ledger = await engine.ledger()
    for (const [work, message] of await wrongCalls(engine)) {
      await fails('invalid_argument', work, message)
      assert.deepEqual(await engine.ledger(), ledger)
    }
    assert.equal(await valueAt(engine, K, 1n), 'b')
  }),

  contractCase('says that the store is closed, to everything but close', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b']), CHAIN)
    const view = await engine.at()
    const scan = view.scan(EMPTY)
    const history = engine.history(K)
    await engine.close()
    await engine.close()
    const uses: readonly (() => unknown)[] = [
      async () => await engine.ledger(),
      async () => await engine.base(),
      async () => await engine.mark(),
      () => engine.at(),
      () => engine.blockAt(1n),
      () => engine.blockByHeight(1n),
      () => engine.blockAtTime(1n),
      () => collect(engine.history(K)),
      () => collect(engine.versions(1n, 1n)),
      () => engine.onCommit(() => {}),
      () => engine.commit([version(2n)], CHAIN),
      () => engine.prune(1n),
      () => engine.beginImport(1n),
      () => view.get(K),
      () => view.peek(K),
      () => view.has(K),
      async () => await collect(view.scan(EMPTY)),
      async () => await collect(scan),
      async () => await collect(history),
    ]
    for (const use of uses) await fails('store_closed', use)
  }),

  storeCase('has one writer at a time', async (open) => {
    const first = await open()
    await fails('store_locked', open)
    await first.close()
    const second = await open()
    await second.close()
  }),

  storeCase('is closed at the end of the block that uses it', async (open) => {
    let used: ContractEngine
    {
      await using engine = await open()
      used = engine
    }
    await fails('store_closed', () => used.ledger())
    const again = await open()
    await again.close()
  }),

  contractCase('calls listeners after commits, prunes and imports, until they are removed', async (engine) => {
    const told: string[] = []
    const listen =
      (name: string) =>
      ({ oldestVersion, latestVersion }: LedgerSummary) =>
        told.push(`${name} ${oldestVersion}–${latestVersion}`)
    const removeA = engine.onCommit(listen('a'))
    const imported = await engine.beginImport(4n)
    await imported.finish({ chainId: 7, block: { height: 4n, epoch: 0n, timestampUsec: 0n } })
    engine.onCommit(listen('b'))
    await engine.commit([version(5n), version(6n)], CHAIN)
    await engine.commit([], CHAIN)
    await fails('version_gap', () => engine.commit([version(9n)], CHAIN))
    removeA()
    await engine.prune(1n)
    await engine.prune(1n)
    removeA()
    await engine.commit([version(7n)], CHAIN)
    assert.deepEqual(told, ['a 4–4', 'a 4–6', 'b 4–6', 'b 6–6', 'b 6–7'])
  }),

  contractCase('returns the ledger that reads see', async (engine) => {
    const seen: Promise<readonly [LedgerSummary, LedgerSummary | undefined, string | null | undefined]>[] = []
    engine.onCommit((ledger) => {
      seen.push(Promise.all([ledger, engine.ledger(), valueAt(engine, K)]))
    })
    await engine.commit(versionsOf(K, 0n, ['a']), CHAIN)
    await Promise.all(seen)
    await engine.commit(versionsOf(K, 1n, ['b', 'c']), CHAIN)
    const all = await Promise.all(seen)
    assert.deepEqual(
      all.map(([, , value]) => value),
      ['a', 'c'],
    )
    for (const [told, current] of all) assert.deepEqual(told, current)
  }),

  contractCase('commits although a listener throws, and calls the other listeners', async (engine) => {
    const fault = new Error('a listener failed')
    let told = 0
    engine.onCommit(() => {
      throw fault
    })
    engine.onCommit(() => {
      told++
    })
    const uncaught = await uncaughtDuring(async () => {
      await engine.commit(versionsOf(K, 0n, ['a', 'b']), CHAIN)
      assert.equal((await engine.prune(1n)).oldestVersion, 1n)
    })
    assert.deepEqual(uncaught, [fault, fault])
    assert.deepEqual([told, await valueAt(engine, K)], [2, 'b'])
  }),
]
