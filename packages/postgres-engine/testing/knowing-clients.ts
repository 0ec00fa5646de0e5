import { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import { eventually } from '@ledger-state/testing/eventually'
import { createRandom } from '@ledger-state/testing/random'
import { openPostgresEngine, openPostgresEngineReader } from '../src/open-postgres-engine.ts'
import { ALL_KEYS, KnownHistory } from './known-history.ts'

const PATIENCE_MS = 300_000
const RETAIN = 15n
/** Keys of a read: few more than fit into one look-up statement; several statements on Citus. */
const ASKED = 25

/**
 * A writer that commits the known history without end, and readers that read it without end, on a server that fails.
 * The only failure that they accept is `unavailable`.
 */
export class KnowingClients {
  readonly #url: string
  readonly #history = new KnownHistory()
  #isOver = false
  #running: readonly Promise<void>[] = []
  /** Wrong answers, lost commits, and failures that are not accepted. */
  readonly faults: string[] = []
  acknowledged = -1n
  commits = 0
  answers = 0
  unavailable = 0

  constructor(url: string) {
    this.#url = url
  }

  start(readers: number, seed: number): void {
    const loops = Array.from({ length: readers }, (_, at) => this.#guarded(() => this.#read(seed + at)))
    this.#running = [this.#guarded(() => this.#write()), ...loops]
  }

  async #guarded(loop: () => Promise<void>): Promise<void> {
    try {
      await loop()
    } catch (error) {
      this.faults.push(String(error))
    }
  }

  /** Runs work, and returns whether it succeeded. */
  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (isLedgerStateError(error, 'version_pruned')) return false
      if (!isLedgerStateError(error, 'unavailable')) throw error
      this.unavailable++
      return false
    }
  }

  async #write(): Promise<void> {
    const engine = await openPostgresEngine({ url: this.#url, patienceMs: 60_000, writePatienceMs: 5_000 })
    try {
      while (!this.#isOver) {
        // The next piece of work of the engine finds out whether a commit without an answer succeeded.
        const next = await this.#nextVersion(() => engine.prune(RETAIN).then(() => engine.ledger))
        if (next === undefined) continue
        for (let version = next; version < next + 20n && !this.#isOver; version++) {
          const isDone = await this.#attempt(() => engine.commit([this.#history.versionAt(version)], { chainId: 7 }))
          if (!isDone) break
          this.acknowledged = version
          this.commits++
        }
      }
    } finally {
      await engine.close()
    }
  }

  async #nextVersion(
    prune: () => Promise<{ readonly latestVersion: bigint } | undefined>,
  ): Promise<bigint | undefined> {
    if (this.acknowledged < 0n) return 0n
    let latest: bigint | undefined
    await this.#attempt(async () => {
      latest = (await prune())?.latestVersion
    })
    if (latest !== undefined && latest < this.acknowledged) this.faults.push(`version ${this.acknowledged} is lost`)
    return latest === undefined ? undefined : latest + 1n
  }

  async #read(seed: number): Promise<void> {
    const random = createRandom(seed)
    // The reader asks for the head each time: the newest rows are those that may be missing.
    const reader = await this.#openReader()
    try {
      while (reader && !this.#isOver) {
        await this.#attempt(async () => {
          const known = this.acknowledged
          const snapshot = await reader.snapshot()
          const { latestVersion, oldestVersion } = snapshot.ledger ?? { latestVersion: -1n, oldestVersion: 0n }
          if (latestVersion < known) this.faults.push(`version ${known} is lost: the newest is ${latestVersion}`)
          if (latestVersion < 0n) return
          const back = BigInt(random.below(Number(latestVersion - oldestVersion) + 1))
          const version = latestVersion - random.pick([0n, 0n, back])
          await (random.below(10) === 0
            ? this.#expectScan(snapshot.at(version))
            : this.#expectLoad(
                snapshot.at(version),
                Array.from({ length: 1 + random.below(ASKED) }, () => random.below(ALL_KEYS.length)),
              ))
          this.answers++
        })
      }
    } finally {
      await reader?.close()
    }
  }

  /** Opens a reader, again and again: a busy machine takes longer than a reader waits. */
  async #openReader(): Promise<Reader | undefined> {
    let reader: Reader | undefined
    while (!reader && !this.#isOver) {
      await this.#attempt(async () => {
        reader = await openPostgresEngineReader({ url: this.#url, headMaxAgeMs: 0 })
      })
    }
    return reader
  }

  async #expectLoad(view: View, keys: readonly number[]): Promise<void> {
    const entries = await view.load(keys.map((key) => ALL_KEYS[key]!))
    for (const [at, entry] of entries.entries()) this.#expect(keys[at]!, view.version, entry)
  }

  async #expectScan(view: View): Promise<void> {
    const { entries } = await view.scan(new Uint8Array(0))
    const found = new Map(entries.map((entry) => [Buffer.from(entry.key).toString(), entry]))
    for (const [at, key] of ALL_KEYS.entries()) this.#expect(at, view.version, found.get(Buffer.from(key).toString()))
  }

  #expect(key: number, version: bigint, entry: Entry | undefined): void {
    const answer = entry && `${entry.version} ${Buffer.from(entry.value)}`
    const right = this.#history.answer(key, version)
    if (answer !== right) this.faults.push(`key ${key} at version ${version} is ${answer}, not ${right}`)
  }

  /** Waits until commits and reads succeed again. */
  async proceed(): Promise<void> {
    const { commits, answers } = this
    await this.#until(
      () => this.commits >= commits + 5 && this.answers >= answers + 20,
      'commits and reads to continue',
    )
  }

  /** Waits until a read or a commit has failed. */
  async fail(): Promise<void> {
    const { unavailable } = this
    await this.#until(() => this.unavailable > unavailable, 'the failure to show')
  }

  async #until(holds: () => boolean, what: string): Promise<void> {
    await eventually(
      () => holds() || this.faults.length > 0,
      () => what,
      PATIENCE_MS,
    )
  }

  /** Ends all clients, and compares every version that the store keeps. */
  async finish(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
    const reader = await openPostgresEngineReader({ url: this.#url, patienceMs: 60_000 })
    try {
      const snapshot = await reader.snapshot()
      const { latestVersion, oldestVersion } = snapshot.ledger!
      if (latestVersion < this.acknowledged) this.faults.push(`version ${this.acknowledged} is lost at the end`)
      const keys = ALL_KEYS.map((_, at) => at)
      for (let version = oldestVersion; version <= latestVersion; version++) {
        await this.#expectLoad(snapshot.at(version), keys)
      }
      this.faults.push(...(await reader.check()).problems)
    } finally {
      await reader.close()
    }
  }
}

type Reader = Awaited<ReturnType<typeof openPostgresEngineReader>>
type View = ReturnType<Awaited<ReturnType<Reader['snapshot']>>['at']>
interface Entry {
  readonly version: bigint
  readonly value: Uint8Array
}
