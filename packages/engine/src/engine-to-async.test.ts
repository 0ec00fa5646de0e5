import { isLedgerStateError, type VersionWrites, type Write } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { engineToAsync } from './engine-to-async.js'
import { createMemoryEngine } from './memory-engine.js'
import type { AsyncHistoryOptions, AsyncSnapshot, WriteSearch } from './ports/async-engine-ports.js'
import type { StateWriter } from './ports/engine-ports.js'

const CHAIN = { chainId: 1 }
const KEYS = [0, 1, 2].map((byte) => Uint8Array.of(byte))
const MOST_VERSION = 14n

/** Makes version `number` of a ledger. It begins a block if `begins`, and writes or deletes one of the keys. */
function versionOf(number: bigint, { begins, key, isDeletion }: Step): VersionWrites {
  const write: Write = [KEYS[key]!, isDeletion ? null : Uint8Array.of(Number(number))]
  const block = begins || number === 0n ? { height: number, epoch: 0n, timestampUsec: 10n * number } : undefined
  return { version: number, ...(block && { block }), writes: [write] }
}

interface Step {
  readonly begins: boolean
  readonly key: number
  readonly isDeletion: boolean
}

const WRITE: Step = { begins: true, key: 0, isDeletion: false }

/** Makes an engine with versions up to `last`. Each is a separate block and writes the first key. */
async function engineUpTo(last: bigint): Promise<StateWriter> {
  const engine = createMemoryEngine()
  const versions = Array.from({ length: Number(last) + 1 }, (_, number) => versionOf(BigInt(number), WRITE))
  await engine.commit(versions, CHAIN)
  return engine
}

const steps = fc.array(fc.record({ begins: fc.boolean(), key: fc.nat(2), isDeletion: fc.boolean() }), {
  minLength: 1,
  maxLength: 12,
})

/** The answer or the error, with its words, of each read of a snapshot. */
async function answersOf(snapshot: AsyncSnapshot): Promise<unknown[]> {
  const reads: (() => Promise<unknown>)[] = [
    async () => [snapshot.ledger, snapshot.base, snapshot.mark],
    () => snapshot.nearestWrites(KEYS, { until: MOST_VERSION }),
    () => snapshot.nearestWrites(KEYS, { above: 2n, last: MOST_VERSION }),
    () => snapshot.versions(1n, MOST_VERSION),
  ]
  for (const key of KEYS) {
    for (const order of ['asc', 'desc'] as const) {
      reads.push(() => snapshot.history(key, { order }))
      reads.push(() => snapshot.history(key, { order, first: 2n, last: MOST_VERSION }))
      reads.push(() => snapshot.history(key, { order, last: 3n }))
    }
  }
  for (let number = 0n; number <= MOST_VERSION; number++) {
    reads.push(() => snapshot.blockAt(number))
    reads.push(() => snapshot.blockByHeight(number))
    reads.push(() => snapshot.blockAtTime(10n * number + 5n))
    reads.push(() => snapshot.versions(1n, number))
    reads.push(async () => snapshot.at(number).load(KEYS))
  }
  reads.push(async () => snapshot.at().scan(new Uint8Array(0)))
  const answers: unknown[] = []
  for (const read of reads) {
    try {
      answers.push(await read())
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
      answers.push(`${error.code}: ${error.message}`)
    }
  }
  return answers
}

describe('a snapshot', () => {
  it('gives the same answers as at first after any commit or truncation above its version', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), fc.nat(), async (steps, at, cut) => {
        await using engine = createMemoryEngine()
        const commit = (from: number, to: number) =>
          engine.commit(
            steps.slice(from, to).map((step, index) => versionOf(BigInt(from + index), step)),
            CHAIN,
          )
        const end = 1 + (at % steps.length)
        await commit(0, end)
        const snapshot = await engineToAsync(engine).snapshot()
        const before = await answersOf(snapshot)
        await commit(end, steps.length)
        expect(await answersOf(snapshot)).toEqual(before)
        const left = end + (cut % (steps.length - end + 1))
        await engine.truncateTo(BigInt(left - 1))
        expect(await answersOf(snapshot)).toEqual(before)
        await commit(left, steps.length)
        expect(await answersOf(snapshot)).toEqual(before)
      }),
    )
  })

  it('refuses to read after a truncation below its latest version', async () => {
    await using engine = await engineUpTo(3n)
    const snapshot = await engineToAsync(engine).snapshot()
    await engine.truncateTo(1n)
    const cutOff: (() => unknown)[] = [
      () => snapshot.at(),
      () => snapshot.at(2n),
      () => snapshot.blockAt(0n),
      () => snapshot.blockByHeight(0n),
      () => snapshot.blockAtTime(0n),
      () => snapshot.history(KEYS[0]!),
      () => snapshot.history(KEYS[0]!, { last: 2n }),
      () => snapshot.nearestWrites(KEYS, { until: 3n }),
      () => snapshot.versions(1n, 2n),
    ]
    for (const read of cutOff) {
      await expect(async () => read()).rejects.toMatchObject({ code: 'version_truncated' })
    }
    expect(await snapshot.at(1n).load([KEYS[0]!])).toEqual([{ version: 1n, value: Uint8Array.of(1) }])
    expect((await snapshot.history(KEYS[0]!, { last: 1n })).revisions).toHaveLength(2)
    await expect(snapshot.versions(1n, 2 as never)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('of an empty store has no ledger, even when the store is no longer empty', async () => {
    await using engine = createMemoryEngine()
    const snapshot = await engineToAsync(engine).snapshot()
    const reads: (() => unknown)[] = [
      () => snapshot.at(),
      () => snapshot.blockAt(0n),
      () => snapshot.blockByHeight(0n),
      () => snapshot.blockByHeight(7n),
      () => snapshot.blockAtTime(0n),
      () => snapshot.history(KEYS[0]!),
      () => snapshot.nearestWrites(KEYS, { until: 3n }),
      () => snapshot.versions(1n, 1n),
    ]
    const expectNone = async () => {
      for (const read of reads) await expect(async () => read()).rejects.toMatchObject({ code: 'no_ledger' })
    }
    await expectNone()
    await engine.commit([versionOf(0n, WRITE), versionOf(1n, WRITE)], CHAIN)
    await expectNone()
  })

  it('refuses histories if a prune may have taken a part of them', async () => {
    await using engine = await engineUpTo(3n)
    const snapshot = await engineToAsync(engine).snapshot()
    await engine.prune(2n)
    const read = (options: AsyncHistoryOptions) => snapshot.history(KEYS[0]!, options)
    for (const options of [{ first: 0n }, { first: 2n }, { last: 1n }] as const) {
      const oldestFirst = read({ order: 'asc', ...options })
      await expect(oldestFirst).rejects.toMatchObject({ code: 'version_pruned' })
    }
    await expect(read({ last: 1n })).rejects.toMatchObject({ code: 'version_pruned' })
    expect((await read({ first: 3n })).revisions).toHaveLength(1)
    expect((await read({ first: 3n, order: 'asc' })).revisions).toHaveLength(1)
  })

  it('reads a history, the newest first, down to the write that the new oldest version sees', async () => {
    await using engine = await engineUpTo(6n)
    const snapshot = await engineToAsync(engine).snapshot()
    await engine.prune(4n)
    const read = async (options: AsyncHistoryOptions) => {
      const { revisions, next } = await snapshot.history(KEYS[0]!, options)
      return { versions: revisions.map(({ version }) => version), next }
    }
    expect(await read({})).toEqual({ versions: [6n, 5n, 4n, 3n], next: 2n })
    expect(await read({ limit: 3 })).toEqual({ versions: [6n, 5n, 4n], next: 3n })
    expect(await read({ last: 3n })).toEqual({ versions: [3n], next: 2n })
    expect(await read({ first: 3n })).toEqual({ versions: [6n, 5n, 4n, 3n], next: undefined })
    await expect(read({ last: 2n })).rejects.toMatchObject({ code: 'version_pruned' })
  })

  it('refuses searches downwards that find nothing, and blocks that it does not find, once it is pruned', async () => {
    await using engine = createMemoryEngine()
    const [kept, deleted, never] = [WRITE, { ...WRITE, key: 1 }, { ...WRITE, key: 2 }] as const
    const steps = [kept, deleted, { ...deleted, isDeletion: true }, kept, kept, kept]
    const versions = steps.map((step, at) => versionOf(BigInt(at), step))
    await engine.commit(versions, CHAIN)
    const snapshot = await engineToAsync(engine).snapshot()
    const search = (keys: readonly Step[], range: WriteSearch) =>
      snapshot.nearestWrites(
        keys.map(({ key }) => KEYS[key]!),
        range,
      )
    expect(await search([kept, deleted, never], { until: 5n })).toEqual([5n, 2n, undefined])
    expect(await snapshot.blockByHeight(9n)).toBeUndefined()
    await engine.prune(2n)
    expect(await search([kept], { until: 4n })).toEqual([4n])
    expect(await search([kept, deleted, never], { above: 4n, last: 5n })).toEqual([5n, undefined, undefined])
    expect(await snapshot.blockAtTime(40n)).toMatchObject({ firstVersion: 4n })
    for (const refused of [
      () => search([kept, deleted], { until: 5n }),
      () => search([never], { until: 5n }),
      () => search([kept], { until: 3n }),
      () => snapshot.blockByHeight(3n),
      () => snapshot.blockByHeight(9n),
      () => snapshot.blockAtTime(39n),
    ]) {
      await expect(refused()).rejects.toMatchObject({ code: 'version_pruned', fields: { oldestVersion: 4n } })
    }
  })
})

describe('a page', () => {
  it('of a scan has 1,000 entries and the key after them, unless the limit ends it before', async () => {
    await using engine = createMemoryEngine()
    const writes = Array.from({ length: 1_001 }, (_, at): Write => [Uint8Array.of(at >> 8, at), Uint8Array.of(1)])
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes }], CHAIN)
    const view = (await engineToAsync(engine).snapshot()).at()
    const pageOf = async (limit?: number, start = 0) => {
      const { entries, next } = await view.scan(new Uint8Array(0), { limit, start: writes[start]![0] })
      return [entries.length, next]
    }
    const last = writes[1_000]![0]
    expect(await pageOf()).toEqual([1_000, last])
    expect(await pageOf(1_001)).toEqual([1_000, last])
    expect(await pageOf(1_000)).toEqual([1_000, undefined])
    expect(await pageOf(7)).toEqual([7, undefined])
    expect(await pageOf(undefined, 1)).toEqual([1_000, undefined])
    expect(await pageOf(5_000, 999)).toEqual([2, undefined])
  })

  it('of versions has as many as the limit, and the version after them', async () => {
    await using engine = await engineUpTo(4n)
    const snapshot = await engineToAsync(engine).snapshot()
    const pageOf = async (limit?: number) => {
      const { versions, next } = await snapshot.versions(1n, 4n, { limit })
      return [versions.map(({ version }) => version), next]
    }
    expect(await pageOf(3)).toEqual([[1n, 2n, 3n], 4n])
    expect(await pageOf(4)).toEqual([[1n, 2n, 3n, 4n], undefined])
    expect(await pageOf()).toEqual([[1n, 2n, 3n, 4n], undefined])
  })
})

describe('engineToAsync', () => {
  it('closes the engine where its scope ends', async () => {
    const engine = createMemoryEngine()
    {
      await using _asyncEngine = engineToAsync(engine)
    }
    expect(() => engine.ledger).toThrow(expect.objectContaining({ code: 'store_closed' }))
  })

  it('makes an engine whose reads are promises, and names the engines that it refuses', async () => {
    await using engine = await engineUpTo(0n)
    const asyncEngine = engineToAsync(engine)
    expect([engine.kind, asyncEngine.kind]).toEqual(['sync', 'async'])
    expect(asyncEngine.ledger).toEqual(engine.ledger)
    const snapshot = await asyncEngine.snapshot()
    const refusals: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => snapshot.nearestWrites(7 as never, { until: 0n }), 'the keys is the number 7, expected an array'],
      [async () => snapshot.at().load(7 as never), 'the keys is the number 7, expected an array'],
      [
        () => snapshot.history(KEYS[0]!, { limit: 0 }),
        'the limit of the history is the number 0, expected a whole number',
      ],
    ]
    for (const [read, message] of refusals) {
      await expect(read()).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(message),
      })
    }
  })
})
