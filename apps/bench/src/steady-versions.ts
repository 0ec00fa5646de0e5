import { createRandom, keyBytes, VERSIONS_PER_BLOCK, type WorkloadVersion } from './workload.js'

/** Versions without end that write each key as often as any other, so that a window always holds as much. */
export function* steadyVersions(keys: number): Generator<WorkloadVersion, never> {
  const random = createRandom(5)
  const content = Buffer.alloc(4_096, 'steady')
  for (let number = 0; ; number++) {
    const written = new Set(Array.from({ length: 5 }, () => random(keys)))
    const height = BigInt(Math.floor(number / VERSIONS_PER_BLOCK))
    yield {
      version: BigInt(number),
      block: number % VERSIONS_PER_BLOCK === 0 ? { height, epoch: 0n, timestampUsec: height } : undefined,
      writes: [...written].map(
        (at) => [keyBytes(at), content.subarray(0, 8 + random(random(20) === 0 ? 3_000 : 300))] as const,
      ),
    }
  }
}
