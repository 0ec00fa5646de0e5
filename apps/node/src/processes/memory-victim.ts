import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Score in thousandths of the memory, or of the container's, that puts even a process that has just started ahead of
 * its supervisor.
 */
const AHEAD = 300
const MOST = 1_000

/**
 * Makes the system kill a process before this one if memory is short (proc_pid_oom_score_adj(5)). Does nothing on other
 * systems than Linux, or if that is not permitted.
 */
export function makeMemoryVictim(pid: number): void {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(MOST, own + AHEAD)))
  } catch {
    // The system then chooses by the memory that processes have.
  }
}
