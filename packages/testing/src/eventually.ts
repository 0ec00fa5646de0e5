import { setTimeout as sleep } from 'node:timers/promises'
import { isSlowRun } from './slow-run.ts'

/**
 * How long `eventually` waits: less than the time limit of a test, so that a wait that fails says what it waited for.
 */
export const PATIENCE_MS = isSlowRun ? 240_000 : 45_000
const PAUSE_MS = 20

/** Waits until a condition holds. A condition that throws does not hold; its last error is the cause of the failure. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  what: () => string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  for (const began = Date.now(); ; await sleep(PAUSE_MS)) {
    const isOver = Date.now() - began > patienceMs
    try {
      if (await holds()) return
    } catch (error) {
      if (isOver) throw new Error(`waited ${patienceMs} ms for ${what()}`, { cause: error })
    }
    if (isOver) throw new Error(`waited ${patienceMs} ms for ${what()}`)
  }
}
