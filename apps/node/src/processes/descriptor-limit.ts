import { readFileSync } from 'node:fs'

/** Descriptors that a process needs in addition to its connections: files, channels, the operator's listener. */
const RESERVED = 64
const LEAST_CONNECTIONS = 16

/** Number of connections for which this process has descriptors. Node raises its limit to the hard one at the start. */
export function connectionLimit(): number {
  const most = openFilesLimit()
  return Math.max(LEAST_CONNECTIONS, most - RESERVED)
}

function openFilesLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    // Only Linux has this file.
    return Number.POSITIVE_INFINITY
  }
}
