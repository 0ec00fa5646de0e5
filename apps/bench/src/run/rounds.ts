import { measure } from 'mitata'

/** Something that can be measured. */
export interface Contender {
  /** How many operations one call of `run` does. */
  readonly count: number
  run(): unknown
}

/** What one operation costs. */
export interface Cost {
  /** Nanoseconds, for each round. */
  readonly wall: number[]
  /** Nanoseconds of CPU time of all threads of this process, for each round. */
  readonly cpu: number[]
  /** Bytes of the heap: the least of the rounds, since a round may include a garbage collection. */
  readonly heapBytes: number
}

export interface RoundOptions {
  readonly rounds: number
  /** How long a contender runs in one round, at least. */
  readonly milliseconds: number
}

/**
 * Measures contenders in interleaved rounds A B C A B C …, so that whatever else the machine does hits all of them alike.
 * A first round warms up and is not counted.
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
      // mitata calls it once more, to find out whether it is asynchronous.
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
