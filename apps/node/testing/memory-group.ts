// A memory cgroup for one test, of either version; the system kills a process of it where it needs more than its limit.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@ledger-state/testing/eventually'

const NAME = `ledger-state-${process.pid}`
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const

export interface MemoryGroup {
  /** Counts what a process and its later children take from now on. */
  add(pid: number): void
  /** Most bytes that its processes may have. */
  limit(bytes: number): void
  /** Resolves once its processes have ended. */
  remove(): Promise<void>
}

/** Undefined where this process may not make one. */
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
