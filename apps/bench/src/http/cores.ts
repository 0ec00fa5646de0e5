import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'

const LAST_CORE = cpus().length - 1
/** Whether a core can be reserved: not on a single core, and not on macOS and Windows, which have no `taskset`. */
const canPin = LAST_CORE > 0 && spawnSync('taskset', ['--version']).error === undefined

/** Words of a command that runs another command on the last core, which is reserved for servers under test. */
export function onLastCore(words: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', String(LAST_CORE), ...words] : words
}

/** Keeps this process, and processes that it starts, off the last core until the work has ended. */
export async function besideLastCore<T>(work: () => Promise<T>): Promise<T> {
  if (!canPin) return work()
  pinThisProcess(LAST_CORE - 1)
  try {
    return await work()
  } finally {
    pinThisProcess(LAST_CORE)
  }
}

function pinThisProcess(lastCore: number): void {
  const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', `0-${lastCore}`, String(process.pid)])
  if (status !== 0) throw new Error(`taskset: ${stderr}`)
}
