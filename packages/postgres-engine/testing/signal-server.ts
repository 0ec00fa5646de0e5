import { spawnSync } from 'node:child_process'

/** Signals a PostgreSQL server and its sessions: each is a process in a separate group, and a child of the server. */
export function signalServer(pid: number, signal: NodeJS.Signals): void {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const sessions = pairs.filter(([, parent]) => parent === pid).map(([session]) => session!)
  for (const one of [pid, ...sessions]) {
    try {
      process.kill(one, signal)
    } catch {
      // The process has ended meanwhile.
    }
  }
}
