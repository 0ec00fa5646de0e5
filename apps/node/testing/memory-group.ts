// A memory cgroup for one test, of either version; the system kills a process of it where it needs more than its limit.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@ledger-state/testing/eventually'

const NAME = `ledger-state-${process.pid}`
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', usage: 'memory.usage_in_bytes', none: '-1' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', usage: 'memory.current', none: 'max' },
] as const

export interface MemoryGroup {
  /** Words before those of a program that is to run in the group. */
  readonly prefix: readonly string[]
  /** Lets the group take this many bytes more than it has now; without a number, any. */
  limit(moreBytes?: number): void
  /** Resolves once its processes have ended. */
  remove(): Promise<void>
}

/** Undefined where this process may not make one. */
export function makeMemoryGroup(): MemoryGroup | undefined {
  for (const { root, limit, usage, none } of VERSIONS) {
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
      prefix: ['sh', '-c', `echo $$ > ${path}/cgroup.procs && exec "$@"`, 'sh'],
      limit(moreBytes) {
        const bytes =
          moreBytes === undefined ? none : String(Number(readFileSync(join(path, usage), 'utf8')) + moreBytes)
        try {
          writeFileSync(join(path, limit), bytes)
        } catch (error) {
          // The group has grown beyond it meanwhile.
          if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
        }
      },
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
