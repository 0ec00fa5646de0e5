import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { isLedgerStateError, type VersionWrites, type Write } from '@ledger-state/core'
import { type AsyncStateWriter, createMemoryEngine } from '@ledger-state/engine'
import {
  asyncToContract,
  type ContractEngine,
  type ContractView,
  writerToContract,
} from '@ledger-state/engine/contract'
import { createRandom, type Random } from '@ledger-state/testing/random'
import { openPostgresEngine, openPostgresEngineReader } from '../src/open-postgres-engine.ts'
import { clearStore } from './clear-store.ts'
import { CHAIN } from './versions.ts'

const STEPS = 8
/** Entries, revisions or versions of a page. */
const PAGE = 9

/** Keys that are empty, prefixes of each other, about as long as the heads by which scans find keys, or far longer. */
const KEYS: readonly Uint8Array[] = [
  Buffer.alloc(0),
  Buffer.from('a'),
  Buffer.from('ab'),
  Buffer.from('b'),
  Buffer.from([255]),
  ...[511, 512, 513].map((length) => Buffer.alloc(length, 97)),
  ...[98, 99].map((last) => Buffer.concat([Buffer.alloc(5_000, 97), Buffer.from([last])])),
]
const PREFIXES: readonly Uint8Array[] = [KEYS[0]!, KEYS[1]!, KEYS[2]!, KEYS[4]!, KEYS[6]!, Buffer.alloc(600, 97)]

/** An engine and the engine in memory, which do the same work and are asked the same questions. */
class RandomHistory {
  readonly #random: Random
  readonly #open: () => Promise<AsyncStateWriter>
  readonly #model: ContractEngine = writerToContract(createMemoryEngine())
  #engine: ContractEngine
  #next: bigint
  #height = 0n

  private constructor(random: Random, open: () => Promise<AsyncStateWriter>, engine: AsyncStateWriter) {
    this.#random = random
    this.#open = open
    this.#engine = asyncToContract(engine, PAGE)
    this.#next = random.pick([0n, 5n, 2n ** 32n - 20n, 2n ** 63n - 1_000n])
  }

  /**
   * Runs a history.
   * @param open opens the store of the history, which is empty at first
   */
  static async run(random: Random, open: () => Promise<AsyncStateWriter>): Promise<void> {
    const history = new RandomHistory(random, open, await open())
    try {
      for (let step = 0; step < STEPS; step++) await history.#step()
    } finally {
      await history.#engine.close()
    }
  }

  async #step(): Promise<void> {
    const kind = this.#random.below(10)
    if (kind < 4) await this.#commit()
    else if (kind < 6) await this.#prune()
    else if (kind === 6) await this.#reopen()
    else if (kind === 7) await this.#truncate()
    else if (kind === 8) await this.#putMark()
    for (let read = 0; read < 3; read++) await this.#read()
  }

  async #commit(): Promise<void> {
    const versions = Array.from({ length: 1 + this.#random.below(this.#random.pick([3, 40])) }, () => this.#version())
    for (const engine of [this.#model, this.#engine]) await engine.commit(versions, CHAIN)
    await this.#compare((engine) => engine.ledger())
  }

  #version(): VersionWrites {
    const version = this.#next++
    const begins = this.#height === 0n || this.#random.below(2) === 0
    const height = begins ? this.#height++ : undefined
    const chosen = KEYS.filter(() => this.#random.below(5) === 0)
    const writes = chosen.map((key): Write => {
      const length = this.#random.pick([0, 1, 12, 300, 9_000])
      return [key, this.#random.below(4) === 0 ? null : Buffer.alloc(length, this.#random.below(256))]
    })
    // Every second block has the time of the one before.
    const block = height === undefined ? undefined : { height, epoch: height >> 2n, timestampUsec: height >> 1n }
    return { version, block, writes }
  }

  async #prune(): Promise<void> {
    const retain = BigInt(1 + this.#random.below(this.#random.pick([3, 60])))
    await this.#compare((engine) => engine.prune(retain))
  }

  async #truncate(): Promise<void> {
    const version = await this.#someVersion()
    const views = await Promise.all([this.#model, this.#engine].map((engine) => viewsOf(engine)))
    await this.#compare((engine) => engine.truncateTo(version, { mark: Buffer.from(String(version)) }))
    await this.#compare((engine) => engine.ledger())
    await this.#compare((engine) => engine.mark())
    const [expected, found] = await Promise.all(
      views.map((ofEngine) => Promise.all(ofEngine.map((view) => answerOf(() => view.getMany(KEYS))))),
    )
    assert.deepEqual(found, expected)
    const ledger = await this.#model.ledger()
    if (!ledger) return
    this.#next = ledger.latestVersion + 1n
    this.#height = ledger.latestBlock.height + 1n
  }

  async #putMark(): Promise<void> {
    const mark = Buffer.alloc(1 + this.#random.below(40), this.#random.below(256))
    await this.#compare((engine) => engine.putMark(mark))
    await this.#compare((engine) => engine.ledger())
    await this.#compare((engine) => engine.mark())
  }

  async #reopen(): Promise<void> {
    await this.#engine.close()
    this.#engine = asyncToContract(await this.#open(), PAGE)
    await this.#compare((engine) => engine.ledger())
  }

  async #read(): Promise<void> {
    const [version, other] = [await this.#someVersion(), await this.#someVersion()]
    const [key, start] = [this.#random.pick(KEYS), this.#random.pick([undefined, ...KEYS])]
    const limit = this.#random.pick([undefined, 0, 1, 5])
    const prefix = this.#random.pick(PREFIXES)
    const order = this.#random.pick(['desc', 'asc'] as const)
    const [first, last] = this.#random.below(2) === 0 ? [undefined, undefined] : [version, other]
    await this.#compare(async (engine) => (await engine.at(version)).getMany(KEYS))
    await this.#compare(async (engine) => all((await engine.at(version)).scan(prefix, { start, limit })))
    await this.#compare((engine) => all(engine.history(key, { first, last, order })))
    await this.#compare((engine) => all(engine.versions(version, other)))
    await this.#compare((engine) => engine.blockAt(version))
    const height = BigInt(this.#random.below(Number(this.#height) + 2))
    await this.#compare((engine) => engine.blockByHeight(height))
    await this.#compare((engine) => engine.blockAtTime(height >> 1n))
  }

  /** Chooses a version in or around the window. */
  async #someVersion(): Promise<bigint> {
    const { oldestVersion, latestVersion } = (await this.#model.ledger()) ?? { oldestVersion: 1n, latestVersion: 1n }
    const low = oldestVersion === 0n ? 0n : oldestVersion - 1n
    return low + BigInt(this.#random.below(Number(latestVersion - low) + 2))
  }

  /** Asks both engines. Their answers, or the codes of their errors, must be the same. */
  async #compare(ask: (engine: ContractEngine) => Promise<unknown>): Promise<void> {
    const expected = await answerOf(() => ask(this.#model))
    assert.deepEqual(await answerOf(() => ask(this.#engine)), expected)
  }
}

/** Views at the oldest version, at the newest, and between them. */
async function viewsOf(engine: ContractEngine): Promise<ContractView[]> {
  const ledger = await engine.ledger()
  if (!ledger) return []
  const { oldestVersion, latestVersion } = ledger
  const versions = [oldestVersion, (oldestVersion + latestVersion) / 2n, latestVersion]
  return await Promise.all(versions.map((version) => engine.at(version)))
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

async function answerOf(ask: () => Promise<unknown>): Promise<unknown> {
  try {
    return plain(await ask())
  } catch (error) {
    if (isLedgerStateError(error)) return error.code
    throw error
  }
}

/** Converts bytes to text, which compares quickly and whatever their class is. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

/** Patience with a server on a machine that tests share. */
const PATIENCE = { patienceMs: 60_000 }

/** Runs histories in the store of a database, each from an empty store, and checks the store after each. */
export async function runHistories(url: string, firstSeed: number, count: number): Promise<void> {
  await (await openPostgresEngine({ url, ...PATIENCE })).close()
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    await clearStore(url)
    try {
      await RandomHistory.run(createRandom(seed), () => openPostgresEngine({ url, create: false, ...PATIENCE }))
      const reader = await openPostgresEngineReader({ url, ...PATIENCE })
      assert.deepEqual((await reader.check()).problems, [])
      await reader.close()
    } catch (error) {
      throw new Error(`the history of seed ${seed} differs (TEST_SEED=${seed} repeats it first)`, { cause: error })
    }
  }
}
