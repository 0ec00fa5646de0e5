import type { BenchRun, Suite } from '../bench-run.js'
import {
  CONNECTIONS,
  cpuMicroseconds,
  HTTP_CASES,
  type Server,
  sampleAnswer,
  startServer,
  writeServedStore,
} from '../http-cases.js'
import { type Latencies, type MakeRequest, offerLoad, saturate } from '../http-load.js'

export const httpSuite: Suite = {
  name: 'http',
  summary: 'requests beside fastify and node:http that answer a constant, and latencies under half of what saturates',
  estimate: (scale) => ({ minutes: scale === 'tiny' ? 1 : 3, memoryBytes: 0.5e9, diskBytes: 0.1e9 }),
  charts: [
    {
      title: 'Requests in a second of the server’s CPU time',
      metric: 'requests in a CPU second',
      x: 'case',
      caption: 'Ours reads, the others answer a constant of the same size and headers.',
    },
    {
      title: 'Latency under half of the load that saturates',
      metric: ['p50', 'p99'],
      x: 'metric',
      where: { case: 'GET balance' },
      caption: 'From when a request was due; one core for the server, one for the load.',
    },
  ],
  async run(run) {
    const folder = run.folder('http')
    await writeServedStore(folder)
    const ours = await startServer('ours', folder, '')
    try {
      for (const { name, makeRequest } of HTTP_CASES) {
        run.step(name)
        const constant = JSON.stringify(await sampleAnswer(ours.port, makeRequest))
        const others = [
          await startServer('fastify', folder, constant),
          await startServer('node:http', folder, constant),
        ]
        try {
          await measureCase(run, name, makeRequest, [ours, ...others])
        } finally {
          for (const { child } of others) child.disconnect()
        }
      }
    } finally {
      ours.child.disconnect()
    }
  },
}

async function measureCase(
  run: BenchRun,
  name: string,
  makeRequest: MakeRequest,
  servers: readonly Server[],
): Promise<void> {
  // Short rounds, and many: what else the machine does comes in bursts, and hits no more than a few of them.
  const rounds = run.byScale({ tiny: 2, small: 45, medium: 45, large: 45 })
  const milliseconds = run.byScale({ tiny: 50, small: 200, medium: 200, large: 200 })
  // Servers run for months: until the last of their code is compiled they are not what is measured.
  const warmUpMs = run.byScale({ tiny: 50, small: 3_000, medium: 3_000, large: 3_000 })
  for (const { port } of servers) await saturate(port, makeRequest, CONNECTIONS, warmUpMs)
  const rates = servers.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, server] of servers.entries()) {
      const before = await cpuMicroseconds(server)
      const served = await saturate(server.port, makeRequest, CONNECTIONS, milliseconds)
      rates[at]!.push((served * 1e6) / ((await cpuMicroseconds(server)) - before))
    }
  }
  const latencies = await measureLatencies(run, makeRequest, servers)
  for (const [at, server] of servers.entries()) {
    const isOurs = at === 0
    const common = {
      title: name,
      subject: isOurs ? 'ours' : `${server.name}, a constant`,
      role: isOurs ? ('ours' as const) : server.name === 'fastify' ? ('floor' as const) : ('limit' as const),
      at: { case: name },
    }
    run.record({ ...common, metric: 'requests in a CPU second', unit: '1/s', better: 'higher', rounds: rates[at]! })
    run.record({ ...common, metric: 'p50', unit: 'ms', rounds: latencies[at]!.map(({ p50 }) => p50) })
    run.record({ ...common, metric: 'p99', unit: 'ms', rounds: latencies[at]!.map(({ p99 }) => p99) })
  }
}

async function measureLatencies(
  run: BenchRun,
  makeRequest: MakeRequest,
  servers: readonly Server[],
): Promise<Latencies[][]> {
  const milliseconds = run.byScale({ tiny: 50, small: 600, medium: 600, large: 600 })
  const latencies = servers.map((): Latencies[] => [])
  for (let round = 0; round < run.byScale({ tiny: 1, small: 5, medium: 5, large: 5 }); round++) {
    for (const [at, { port }] of servers.entries()) {
      // The load generator shares the machine: half of what this pair of processes reaches together.
      const reached = (await saturate(port, makeRequest, CONNECTIONS, milliseconds)) / (milliseconds / 1000)
      latencies[at]!.push(await offerLoad(port, makeRequest, reached / 2, CONNECTIONS, milliseconds * 2))
    }
  }
  return latencies
}
