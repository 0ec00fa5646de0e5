import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { createCpuShare } from './cpu-share.js'

const SEED = testSeed()

it(`keeps work within its share of a core, whatever the pieces, and makes up for one second at most (TEST_SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  for (let round = 0; round < 50; round++) {
    const clock = { cpu: 0, wall: 0 }
    const share = (1 + random.below(100)) / 100
    const pause = createCpuShare(share, {
      cpu: () => clock.cpu,
      wall: () => clock.wall,
      pause: async (ms) => {
        expect(ms).toBeGreaterThan(0)
        clock.wall += ms
      },
    })
    for (let piece = 0; piece < 30; piece++) {
      clock.wall += random.below(5_000)
      await pause()
      const began = clock.wall
      const workMs = random.below(2_000)
      clock.cpu += workMs
      clock.wall += workMs
      await pause()
      // At most one second of the idle time before counts.
      expect((clock.wall - began + 1_000) * share).toBeGreaterThanOrEqual(workMs - 1e-6)
    }
  }
})
