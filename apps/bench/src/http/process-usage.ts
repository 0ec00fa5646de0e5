import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Whether the system shows the CPU time of each thread in nanoseconds and the memory of each process, as Linux does.
 */
export const hasProcessUsage = existsSync('/proc/self/schedstat')

/** CPU time of a process and all its descendants since they started. */
export function processCpuMicroseconds(pid: number): number {
  let nanoseconds = 0
  for (const one of processTree(pid)) {
    for (const thread of readdirSync(`/proc/${one}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${one}/task/${thread}/schedstat`, 'latin1').split(' ')[0])
    }
  }
  return nanoseconds / 1_000
}

export interface MemoryWatch {
  /** The most memory that one process of the tree has held so far. */
  readonly peakBytes: number
  /** The most memory that one process was seen to hold since the last call. */
  takeMostBytes(): number
  stop(): void
}

const WATCH_INTERVAL_MS = 200

/** Watches the memory of a process and its descendants, including those that end during the watch. */
export function watchMemory(pid: number): MemoryWatch {
  let peakBytes = 0
  let mostBytes = 0
  const look = (): void => {
    const memory = processTree(pid).map(memoryOf)
    peakBytes = Math.max(peakBytes, ...memory.map(({ peak }) => peak))
    mostBytes = Math.max(mostBytes, ...memory.map(({ now }) => now))
  }
  const timer = setInterval(look, WATCH_INTERVAL_MS)
  return {
    get peakBytes() {
      look()
      return peakBytes
    },
    takeMostBytes() {
      look()
      const taken = mostBytes
      mostBytes = 0
      return taken
    },
    stop: () => clearInterval(timer),
  }
}

function memoryOf(pid: number): { peak: number; now: number } {
  const status = readIfThere(`/proc/${pid}/status`)
  const bytesOf = (line: RegExp): number => Number(line.exec(status)?.[1] ?? 0) * 1_024
  return { peak: bytesOf(/^VmHWM:\s+(\d+) kB$/m), now: bytesOf(/^VmRSS:\s+(\d+) kB$/m) }
}

function processTree(pid: number): number[] {
  const tree = [pid]
  // Only main threads are looked at, as the supervisor starts processes from its main thread.
  for (const one of tree)
    tree.push(...(readIfThere(`/proc/${one}/task/${one}/children`).match(/\d+/g) ?? []).map(Number))
  return tree
}

/** Content of a file; empty for a process that has just ended. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
