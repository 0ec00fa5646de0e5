// A memory cgroup for one test, of either version. If the processes of the group need more than its limit, the system
// kills one.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@ledger-state/testing/eventually'

const NAME = `ledger-state-${process.pid}`
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const

export interface MemoryGroup {
  /** Adds a process and its later children to the group. */
  add(pid: number): void
  /** Sets the most bytes that its processes may have. */
  limit(bytes: number): void
  /** Removes the group, once its processes have ended. */
  remove(): Promise<void>
}

/** Makes a group; undefined if this process may not. */
export function makeMemoryGroup(): MemoryGroup | undefined {
  for (const { root, limit } of VERSIONS) {
    const path = join(root, NAME)
    try {
      mkdirSync(path)
    } catch {
      continue
    }
    if (!existsSync(join(path, limit))) {
      rmdirSync(path)
      continue
    }
    return {
      add: (pid) => writeFileSync(join(path, 'cgroup.procs'), String(pid)),
      limit: (bytes) => writeFileSync(join(path, limit), String(bytes)),
      async remove() {
        await eventually(
          () => isRemoved(path),
          () => `the end of all processes in ${path}`,
        )
      },
    }
  }
  return undefined
}

function isRemoved(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch {
    return false
  }
}
