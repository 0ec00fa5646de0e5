import { openStateEngine } from '@ledger-state/state-engine'
import type { BenchRun, Suite } from '../bench-run.js'
import { CONNECTIONS, HTTP_CASES, HTTP_KEYS, startServer, writeServedStore } from '../http-cases.js'
import { offerLoad } from '../http-load.js'
import { createRandom, type WorkloadVersion } from '../workload.js'

/** Far below what saturates: requests that wait for each other are another measurement. */
const REQUESTS_PER_SECOND = 1_000
const WINDOW_VERSIONS = 2_000n
const BATCH_VERSIONS = 50

type Load = 'nobody writes' | 'ingest' | 'ingest and prune'

export const soakSuite: Suite = {
  name: 'soak',
  summary: 'latencies of requests at a steady rate while a writer ingests, and while it ingests and prunes',
  estimate: (scale) => ({
    minutes: { tiny: 1, small: 2, medium: 6, large: 20 }[scale],
    memoryBytes: 0.5e9,
    diskBytes: 2e9,
  }),
  charts: [
    {
      title: 'Latency of requests under a writer',
      metric: ['p50', 'p99'],
      x: 'metric',
      caption: 'GET balance at 1,000 requests a second, in rounds by turns; writer, server and load share the cores.',
    },
    {
      title: 'Size of the store',
      metric: 'size of the store',
      x: 'seconds',
      caption: 'While it is written and pruned.',
    },
  ],
  async run(run) {
    const folder = run.folder('soak')
    await writeServedStore(folder)
    const server = await startServer('ours', folder, '')
    try {
      await measure(run, folder, server.port)
    } finally {
      server.child.disconnect()
    }
  },
}

async function measure(run: BenchRun, folder: string, port: number): Promise<void> {
  const rounds = run.byScale({ tiny: 1, small: 5, medium: 9, large: 15 })
  const milliseconds = run.byScale({ tiny: 300, small: 5_000, medium: 10_000, large: 20_000 })
  const engine = openStateEngine({ path: folder })
  const writer = createWriter(engine)
  const { makeRequest } = HTTP_CASES[0]!
  const loads: readonly Load[] = ['nobody writes', 'ingest', 'ingest and prune']
  const latencies = loads.map(() => ({ p50: [] as number[], p99: [] as number[] }))
  const began = performance.now()
  const noteSize = () => {
    const seconds = Math.round((performance.now() - began) / 1_000)
    run.record({
      title: 'size of the store',
      plotOnly: true,
      subject: 'the file',
      metric: 'size of the store',
      unit: 'B',
      better: 'neither',
      rounds: engine.stats.fileBytes,
      at: { seconds },
    })
  }
  for (let round = -1; round < rounds; round++) {
    for (const [at, load] of loads.entries()) {
      run.step(`${round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`}: ${load}`)
      const offered = offerLoad(port, makeRequest, REQUESTS_PER_SECOND, CONNECTIONS, milliseconds)
      let isOver = false
      const over = offered.finally(() => {
        isOver = true
      })
      while (!isOver) {
        if (load !== 'nobody writes') await writer.commit(load === 'ingest and prune')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const { p50, p99 } = await over
      noteSize()
      if (round < 0) continue
      latencies[at]!.p50.push(p50)
      latencies[at]!.p99.push(p99)
    }
  }
  for (const [at, load] of loads.entries()) {
    const common = {
      title: `GET balance, ${REQUESTS_PER_SECOND} requests a second`,
      subject: load,
      role: at === 0 ? ('floor' as const) : ('ours' as const),
      unit: 'ms',
    }
    run.record({ ...common, metric: 'p99', rounds: latencies[at]!.p99 })
    run.record({ ...common, metric: 'p50', rounds: latencies[at]!.p50 })
  }
  await engine.close()
}

/** Writes table items that are served again and again, a batch at a time. */
function createWriter(engine: ReturnType<typeof openStateEngine>) {
  const random = createRandom(23)
  const { latestVersion, latestBlock, chainId } = engine.ledger!
  let next = latestVersion + 1n
  let { height } = latestBlock
  const key = (at: number) => {
    const bytes = Buffer.alloc(41)
    bytes[0] = 1
    bytes[32] = 8
    bytes.writeUInt32LE(at, 33)
    return bytes
  }
  return {
    async commit(prunes: boolean): Promise<void> {
      const batch = Array.from({ length: BATCH_VERSIONS }, (): WorkloadVersion => {
        height++
        const written = new Set(Array.from({ length: 5 }, () => random(HTTP_KEYS)))
        const writes = [...written].map((at) => [key(at), Buffer.alloc(41, at & 0xff)] as const)
        return { version: next++, block: { height, epoch: 0n, timestampUsec: height }, writes }
      })
      await engine.commit(batch, { chainId })
      if (prunes) await engine.prune(WINDOW_VERSIONS)
    },
  }
}
