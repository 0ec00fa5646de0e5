import {
  type Connection,
  closeConnections,
  type Latencies,
  type MakeRequest,
  offerLoad,
  openConnections,
  saturate,
} from '../http/load.ts'
import { hasProcessUsage, processCpuMicroseconds } from '../http/process-usage.ts'
import { GET_BALANCE, POST_BATCH, POST_ITEM, type RequestCase } from '../http/requests.ts'
import { writeServedStore } from '../http/served-store.ts'
import { type Server, sampleAnswer, startConstantServer, startNode } from '../http/servers.ts'
import type { Role } from '../report/measure.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'

const CONNECTIONS = 32

interface HttpContender {
  readonly subject: string
  readonly role: Role
  readonly server: Server
}

/** Aims in per cent of the requests in a CPU second of a server with a constant answer. */
const AIMS: readonly { readonly of: RequestCase; readonly fastify: number; readonly nodeHttp: number }[] = [
  { of: GET_BALANCE, fastify: 80, nodeHttp: 75 },
  { of: POST_ITEM, fastify: 80, nodeHttp: 65 },
]

export const httpSuite: Suite = {
  name: 'http',
  summary:
    'ledger-state serve compared with fastify and node:http that answer a constant; latencies under half of the load that saturates',
  estimate: (scale) => ({ minutes: scale === 'tiny' ? 1 : 3, memoryBytes: 0.5e9, diskBytes: 0.1e9 }),
  charts: [
    {
      title: 'Requests in a second of the server’s CPU time',
      metric: 'requests in a CPU second',
      x: 'case',
      caption: 'Ours reads the store; the others answer a constant of the same size and headers.',
    },
    {
      title: 'Latency under half of the load that saturates',
      metric: ['p50', 'p99'],
      x: 'metric',
      where: { case: GET_BALANCE.name },
      caption: 'From when a request was due; one core for the server, one for the load.',
    },
  ],
  async run(run) {
    if (!hasProcessUsage) {
      run.note('left out: the CPU time of other processes can be read on Linux only')
      return
    }
    const folder = run.folder('http')
    await writeServedStore(folder)
    const ours = await startNode(folder)
    try {
      for (const one of [GET_BALANCE, POST_ITEM, POST_BATCH]) await measureBesideConstants(run, one, ours)
    } finally {
      await ours.stop()
    }
  },
}

async function measureBesideConstants(run: BenchRun, one: RequestCase, ours: Server): Promise<void> {
  run.step(one.name)
  const constant = await sampleAnswer(ours.port, one.makeRequest)
  const fastify = await startConstantServer('fastify', constant)
  const nodeHttp = await startConstantServer('node:http', constant)
  try {
    // Our server has received a request with other headers, which makes the measured ones up to 4 % more expensive. The
    // other servers get one, too.
    for (const { port } of [fastify, nodeHttp]) await sampleAnswer(port, one.makeRequest)
    await measureCase(run, one, [
      { subject: 'ours', role: 'ours', server: ours },
      { subject: 'fastify, a constant', role: 'floor', server: fastify },
      { subject: 'node:http, a constant', role: 'limit', server: nodeHttp },
    ])
  } finally {
    await fastify.stop()
    await nodeHttp.stop()
  }
}

async function measureCase(run: BenchRun, one: RequestCase, contenders: readonly HttpContender[]): Promise<void> {
  const { name, makeRequest } = one
  const open = await Promise.all(contenders.map(({ server }) => openConnections(server.port, CONNECTIONS)))
  const rates = await measureRates(run, makeRequest, contenders, open)
  const latencies = await measureLatencies(run, makeRequest, open)
  for (const connections of open) closeConnections(connections)
  for (const [at, { subject, role }] of contenders.entries()) {
    const common = { title: name, subject, role, at: { case: name } }
    run.record({ ...common, metric: 'requests in a CPU second', unit: '1/s', better: 'higher', rounds: rates[at]! })
    run.record({ ...common, metric: 'p50', unit: 'ms', rounds: latencies[at]!.map(({ p50 }) => p50) })
    run.record({ ...common, metric: 'p99', unit: 'ms', rounds: latencies[at]!.map(({ p99 }) => p99) })
  }
  const [ours, fastify, nodeHttp] = rates as [number[], number[], number[]]
  const aims = AIMS.find(({ of }) => of === one)
  recordShare(run, `${name}, of fastify answering a constant`, ours, fastify, aims?.fastify)
  recordShare(run, `${name}, of node:http answering a constant`, ours, nodeHttp, aims?.nodeHttp)
}

/** Requests in a CPU second, by contender and round. */
async function measureRates(
  run: BenchRun,
  makeRequest: MakeRequest,
  contenders: readonly HttpContender[],
  open: readonly (readonly Connection[])[],
): Promise<number[][]> {
  // Many short rounds, because other load on the machine comes in bursts, which then affect few rounds.
  const rounds = run.byScale({ tiny: 2, small: 45, medium: 45, large: 45 })
  const milliseconds = run.byScale({ tiny: 50, small: 200, medium: 200, large: 200 })
  // Servers run for months, so compiled code is measured.
  const warmUpMs = run.byScale({ tiny: 50, small: 3_000, medium: 3_000, large: 3_000 })
  for (const connections of open) await saturate(connections, makeRequest, warmUpMs)
  const rates = contenders.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, { server }] of contenders.entries()) {
      const before = processCpuMicroseconds(server.pid)
      const served = await saturate(open[at]!, makeRequest, milliseconds)
      rates[at]!.push((served * 1e6) / (processCpuMicroseconds(server.pid) - before))
    }
  }
  return rates
}

async function measureLatencies(
  run: BenchRun,
  makeRequest: MakeRequest,
  open: readonly (readonly Connection[])[],
): Promise<Latencies[][]> {
  const milliseconds = run.byScale({ tiny: 50, small: 600, medium: 600, large: 600 })
  const rounds = run.byScale({ tiny: 1, small: 5, medium: 5, large: 5 })
  const latencies = open.map((): Latencies[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, connections] of open.entries()) {
      // The load generator shares the machine, so the load is half of the maximum of this server and the generator
      // together.
      const reached = (await saturate(connections, makeRequest, milliseconds)) / (milliseconds / 1_000)
      latencies[at]!.push(await offerLoad(connections, makeRequest, reached / 2, milliseconds * 2))
    }
  }
  return latencies
}

/** Records the share within each round, since contenders took turns. */
function recordShare(
  run: BenchRun,
  subject: string,
  ours: readonly number[],
  theirs: readonly number[],
  aim: number | undefined,
): void {
  const common = {
    title: 'requests in a CPU second, compared with servers that read nothing',
    subject,
    unit: '%',
  } as const
  const rounds = ours.map((rate, round) => (rate * 100) / theirs[round]!)
  run.record({ ...common, metric: 'share', better: 'higher', rounds })
  if (aim !== undefined) run.record({ ...common, metric: 'aim', better: 'neither', rounds: aim })
}
