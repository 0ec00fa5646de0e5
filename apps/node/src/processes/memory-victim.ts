import { readFileSync, writeFileSync } from 'node:fs'

/** Thousandths of the memory, or of the container's: a process that has just started is then ahead of its supervisor. */
const AHEAD = 300
const MOST = 1_000

/**
 * Makes the system end a process before this one where memory is short (proc_pid_oom_score_adj(5)). Does nothing where the system is
 * not Linux, or lets nobody say so.
 */
export function makeMemoryVictim(pid: number): void {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(MOST, own + AHEAD)))
  } catch {
    // The order then is that of the memory that the processes have.
  }
}
