// A folder, a source, nodes and clients for one test; all are gone when it ends.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, PATIENCE_MS } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { type NodeOptions, NodeProcess } from './node-process.ts'
import { type SteadyClient, startSteadyClient } from './steady-client.ts'
import { type SteadyNode, startSteadyNode } from './steady-ledger.ts'

export class NodeBed {
  readonly folder = mkdtempSync(join(tmpdir(), 'node-'))
  /** Source that nodes follow. A test may replace it by another on its port. */
  source: SteadyNode
  readonly nodes: NodeProcess[] = []
  readonly #clients: SteadyClient[] = []
  #growth: NodeJS.Timeout | undefined

  static async open(): Promise<NodeBed> {
    return new NodeBed(await startSteadyNode(await freePort()))
  }

  private constructor(source: SteadyNode) {
    this.source = source
    // Nodes that run as another user must reach the folder.
    chmodSync(this.folder, 0o755)
  }

  at(name: string): string {
    return join(this.folder, name)
  }

  following(...options: string[]): string[] {
    return ['--follow', this.source.url, '--no-verify', ...options]
  }

  /**
   * Starts a node on the folder `store` that follows the source, unless the options differ. Resolves when it answers.
   */
  async start(options: Partial<NodeOptions> = {}): Promise<NodeProcess> {
    return await this.launch(options).listening()
  }

  launch(options: Partial<NodeOptions> = {}): NodeProcess {
    const node = new NodeProcess({ dataDir: this.at('store'), options: this.following(), ...options })
    this.nodes.push(node)
    return node
  }

  startClient(node: () => NodeProcess, pauseMs = 2): SteadyClient {
    const client = startSteadyClient({ address: () => node().address, connections: 4, pauseMs, timeoutMs: PATIENCE_MS })
    this.#clients.push(client)
    return client
  }

  /** Adds this many versions to the source, twenty times a second. */
  grow(versions: number): void {
    this.#growth = setInterval(() => {
      this.source.latest += versions
    }, 50)
  }

  stopGrowth(): void {
    clearInterval(this.#growth)
  }

  async close(): Promise<void> {
    this.stopGrowth()
    await Promise.all(this.#clients.map((client) => client.stop()))
    await Promise.all(this.nodes.map((node) => node.killAll()))
    await this.source.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function reaches(node: NodeProcess, version: number): Promise<void> {
  return eventually(
    async () => (await node.version()) >= version,
    () => `version ${version}: ${node.output.slice(-2_000)}`,
  )
}

/** Waits for more right answers. Throws if an answer was ever wrong. */
export async function answersRightly({ tally, seed }: SteadyClient, more = 50): Promise<void> {
  const { right } = tally
  await eventually(
    () => tally.right >= right + more || tally.wrong.length > 0,
    () => `${more} right answers: ${JSON.stringify([...tally.errors])}`,
  )
  if (tally.wrong.length > 0) throw new Error(`wrong, with TEST_SEED=${seed}: ${tally.wrong.join('\n')}`)
}
