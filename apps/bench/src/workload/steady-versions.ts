import { createRandom } from '@ledger-state/testing/random'
import { keyBytes, VERSIONS_PER_BLOCK, type WorkloadVersion } from './workload.ts'

/** Endless versions that write all keys equally often, so that all windows of one length hold the same amount. */
export function* steadyVersions(keys: number): Generator<WorkloadVersion, never> {
  const random = createRandom(5)
  const content = Buffer.alloc(4_096, 'steady')
  for (let number = 0; ; number++) {
    const written = new Set(Array.from({ length: 5 }, () => random.below(keys)))
    const height = BigInt(Math.floor(number / VERSIONS_PER_BLOCK))
    yield {
      version: BigInt(number),
      block: number % VERSIONS_PER_BLOCK === 0 ? { height, epoch: 0n, timestampUsec: height } : undefined,
      writes: [...written].map(
        (at) => [keyBytes(at), content.subarray(0, 8 + random.below(random.below(20) === 0 ? 3_000 : 300))] as const,
      ),
    }
  }
}
