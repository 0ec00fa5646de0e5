import { setTimeout as sleep } from 'node:timers/promises'

/** Longest pause, so that a stop is noticed. */
const LONGEST_PAUSE_MS = 500
/** Time that may be made up for after work that took less than the share. */
const MOST_CREDIT_MS = 1_000

/** Clocks of a process, in milliseconds; tests have their own. */
export interface ShareClocks {
  readonly cpu: () => number
  readonly wall: () => number
  readonly pause: (ms: number) => Promise<unknown>
}

const OWN_CLOCKS: ShareClocks = {
  cpu() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  },
  wall: () => performance.now(),
  pause: sleep,
}

/**
 * Creates a function that pauses until this process, with all its threads, has taken no more than a share of one core.
 * Work calls it often, and at its begin, so that idle time before counts up to a second.
 * @param share from 0 to 1
 */
export function createCpuShare(share: number, { cpu, wall, pause }: ShareClocks = OWN_CLOCKS): () => Promise<void> {
  let [cpuBegan, wallBegan] = [cpu(), wall()]
  return async () => {
    for (;;) {
      const due = wallBegan + (cpu() - cpuBegan) / share
      const now = wall()
      if (due <= now) {
        if (now - due > MOST_CREDIT_MS) {
          cpuBegan = cpu()
          wallBegan = now - MOST_CREDIT_MS
        }
        return
      }
      await pause(Math.min(due - now, LONGEST_PAUSE_MS))
    }
  }
}
