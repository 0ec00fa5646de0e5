import { measure } from 'mitata'

/** Does something many times; `count` is how often. */
export interface Contender {
  readonly count: number
  run(): unknown
}

export interface Cost {
  /** Nanoseconds of each round for one of what is counted. */
  readonly wall: number[]
  /** The same of CPU time, all threads of this process. */
  readonly cpu: number[]
  /** Bytes of the heap that one of them takes; the least of the rounds, as others may hold a collection. */
  readonly heapBytes: number
}

export interface RoundOptions {
  readonly rounds: number
  /** For how long a contender runs in a round, at least. */
  readonly milliseconds: number
}

/**
 * Measures contenders in interleaved rounds A B C A B C …, so that what else the machine does hits all of them alike.
 * A first round warms up.
 */
export async function measureInRounds(
  contenders: readonly Contender[],
  { rounds, milliseconds }: RoundOptions,
): Promise<Cost[]> {
  const costs = contenders.map(() => ({
    wall: [] as number[],
    cpu: [] as number[],
    heapBytes: Number.POSITIVE_INFINITY,
  }))
  for (let round = -1; round < rounds; round++) {
    for (const [at, contender] of contenders.entries()) {
      const before = process.cpuUsage()
      const stats = await measure(() => contender.run(), {
        gc: false,
        heap: () => process.memoryUsage().heapUsed,
        min_samples: 1,
        min_cpu_time: milliseconds * 1e6,
        max_samples: 1e6,
        warmup_samples: 0,
        warmup_threshold: 0,
        batch_threshold: 0,
      })
      const { user, system } = process.cpuUsage(before)
      // It runs once more, to see whether there is something to wait for.
      const runs = stats.ticks + 1
      if (round < 0) continue
      const cost = costs[at]!
      cost.wall.push(stats.p50 / contender.count)
      cost.cpu.push(((user + system) * 1e3) / (runs * contender.count))
      if (stats.heap) cost.heapBytes = Math.min(cost.heapBytes, stats.heap.min / contender.count)
    }
  }
  return costs
}
