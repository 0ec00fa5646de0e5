import { measure } from 'mitata'

/** Something that can be measured. */
export interface Contender {
  /** Number of operations in one call of `run`. */
  readonly count: number
  run(): unknown
}

/** Cost of one operation. */
export interface Cost {
  /** Nanoseconds of each round. */
  readonly wall: number[]
  /** Nanoseconds of CPU time of all threads of this process, of each round. */
  readonly cpu: number[]
  /** Bytes of heap: the least of the rounds, since a round may include a garbage collection. */
  readonly heapBytes: number
}

export interface RoundOptions {
  readonly rounds: number
  /** Least time of a contender in one round. */
  readonly milliseconds: number
}

/**
 * Measures contenders in interleaved rounds A B C A B C …, so that other load on the machine affects all of them
 * equally. A first round warms up and is not counted.
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
      // mitata makes one more call, to find out whether the function is asynchronous.
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
