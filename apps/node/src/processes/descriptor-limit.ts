import { readFileSync } from 'node:fs'

/** Descriptors of a process in addition to its connections: files, channels, the listener of the operator. */
const RESERVED = 64
const LEAST_CONNECTIONS = 16

/** How many connections this process has descriptors for. Node has raised its limit to the hard one at start. */
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
