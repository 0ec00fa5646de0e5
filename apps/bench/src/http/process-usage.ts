import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Linux tells the CPU time of each thread of a process in nanoseconds, and its memory. */
export const hasProcessUsage = existsSync('/proc/self/schedstat')

/** CPU time of a process and all its descendants since they started. */
export function cpuMicroseconds(pid: number): number {
  let nanoseconds = 0
  for (const one of processTree(pid)) {
    for (const thread of readdirSync(`/proc/${one}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${one}/task/${thread}/schedstat`, 'latin1').split(' ')[0])
    }
  }
  return nanoseconds / 1_000
}

/** The most memory that one process of the tree has held at a time. */
export function peakMemoryBytes(pid: number): number {
  return Math.max(...processTree(pid).map(peakOf))
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1_024
  } catch {
    // The process has just ended.
    return 0
  }
}

function processTree(pid: number): number[] {
  const tree = [pid]
  for (const one of tree) {
    for (const thread of readdirSync(`/proc/${one}/task`)) {
      const children = readFileSync(`/proc/${one}/task/${thread}/children`, 'latin1').match(/\d+/g) ?? []
      tree.push(...children.map(Number))
    }
  }
  return tree
}
