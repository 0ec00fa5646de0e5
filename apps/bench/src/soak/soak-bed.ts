import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventually } from '@ledger-state/testing/eventually'
import { NodeProcess, PROGRAM } from 'ledger-state/testing/node-process'
import { type SteadyNode, startSteadyNode } from 'ledger-state/testing/steady-ledger'
import { SoakDatabase } from './soak-database.ts'

/** Numbers of versions that the node retains, in turn. */
const WINDOWS = [5_000, 20_000, 10_000]
export const READERS = 2
const FIRST_VERSIONS = 5_000

/** The node under test, the node that it follows, and their folder. */
export class SoakBed {
  readonly source: SteadyNode
  /** Database of the store; undefined if the store is in a folder. */
  readonly database: SoakDatabase | undefined
  readonly #folder = mkdtempSync(join(tmpdir(), 'soak-'))
  readonly #dataDir = join(this.#folder, 'store')
  readonly #configuration = join(this.#folder, 'node.json')
  #window = 0
  #node!: NodeProcess

  /**
   * Opens a bed.
   * @param store URL of a database, or `EMBEDDED`; undefined for a folder
   */
  static async open(store?: string): Promise<SoakBed> {
    const database = store === undefined ? undefined : await SoakDatabase.open(store)
    const bed = new SoakBed(await startSteadyNode(), database)
    bed.source.latest = FIRST_VERSIONS
    bed.#writeConfiguration()
    bed.#node = await bed.#startNode('127.0.0.1:0')
    await bed.reaches(FIRST_VERSIONS)
    return bed
  }

  private constructor(source: SteadyNode, database: SoakDatabase | undefined) {
    this.source = source
    this.database = database
  }

  get node(): NodeProcess {
    return this.#node
  }

  /** Address on which every node of this bed listens. */
  get listen(): string {
    return this.#node.address.slice('http://'.length)
  }

  async killAndStart(): Promise<void> {
    const { listen } = this
    await this.#node.killAll()
    this.#node = await this.#startNode(listen)
  }

  async restart(): Promise<void> {
    const { listen } = this
    await this.stopNode()
    this.#node = await this.#startNode(listen)
  }

  async stopNode(): Promise<void> {
    const status = await this.#node.stop()
    if (status !== 0) throw new Error(`the node ended with status ${status}: ${this.#node.output.slice(-2_000)}`)
  }

  changeWindow(): void {
    this.#writeConfiguration()
    this.#node.child.kill('SIGHUP')
  }

  async checkSnapshot(): Promise<void> {
    const copy = join(this.#folder, 'copy')
    await run('snapshot', copy, '--data-dir', this.#dataDir)
    await run('check', '--data-dir', copy)
    rmSync(copy, { recursive: true })
  }

  async checkStore(): Promise<void> {
    await run('check', ...this.#place)
  }

  /** Compares everything that is kept, at every version, with a store that the source has filled without faults. */
  async compareWithFreshStore(): Promise<void> {
    const fresh = join(this.#folder, 'fresh')
    const [found, expected] = [join(this.#folder, 'found.ndjson'), join(this.#folder, 'expected.ndjson')]
    const { oldest_ledger_version: oldest } = JSON.parse(await run('info', '--json', ...this.#place)) as {
      readonly oldest_ledger_version: string
    }
    await run('ingest', this.source.url, '--no-verify', '--data-dir', fresh)
    await run('export', found, ...this.#place)
    await run('export', expected, '--data-dir', fresh, '--from', oldest)
    if (!readFileSync(found).equals(readFileSync(expected))) throw new Error('the store differs from its source')
  }

  /** Options that name the store. */
  get #place(): string[] {
    return this.database ? ['--store', this.database.url] : ['--data-dir', this.#dataDir]
  }

  /**
   * Waits until the node serves a version, as long as it comes closer to it. On a busy machine that may take minutes.
   */
  async reaches(version: number): Promise<void> {
    for (let served = -1; served < version; ) {
      const before = served
      await eventually(
        async () => {
          served = await this.#node.version()
          return served > before
        },
        () => `version ${version} after ${before}: ${this.#node.output.slice(-2_000)}`,
      )
    }
  }

  async close(): Promise<void> {
    await this.#node.killAll()
    await this.source.close()
    await this.database?.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #startNode(listen: string): Promise<NodeProcess> {
    const options = ['--config', this.#configuration]
    const store = this.database && { store: this.database.url }
    return new NodeProcess({ dataDir: this.#dataDir, ...store, options, listen }).listening()
  }

  #writeConfiguration(): void {
    const retain = WINDOWS[this.#window++ % WINDOWS.length]
    const settings = { retain, follow: this.source.url, verify: false, readers: READERS }
    writeFileSync(this.#configuration, JSON.stringify(settings))
  }
}

/**
 * Runs a command of the program. Resolves with its output.
 * @throws if it fails
 */
async function run(...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const printed = await text(child.stdout)
  const status = await ended
  if (status !== 0) throw new Error(`ledger-state ${words.join(' ')} ended with status ${status}`)
  return printed
}
