import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Path of the memory in each version of control groups, and the name of its limit. */
const HIERARCHIES = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const

/** A control group: the memory of its processes together is limited, their page cache included. */
export interface MemoryGroup {
  /** A process that writes its number there is of the group. */
  readonly processesFile: string
  remove(): void
}

/** Makes a group; undefined where the system does not allow it. */
export function createMemoryGroup(name: string, memoryBytes: number): MemoryGroup | undefined {
  for (const { root, limit } of HIERARCHIES) {
    const folder = join(root, name)
    try {
      if (!existsSync(join(root, 'cgroup.procs'))) continue
      mkdirSync(folder)
    } catch {
      continue
    }
    const remove = () => rmdirSync(folder)
    try {
      writeFileSync(join(folder, limit), String(memoryBytes))
      if (Number(readFileSync(join(folder, limit), 'utf8')) <= memoryBytes) {
        return { processesFile: join(folder, 'cgroup.procs'), remove }
      }
    } catch {
      // The memory is not among what this hierarchy limits.
    }
    remove()
  }
  return undefined
}
