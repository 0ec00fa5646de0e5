import { existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** Free bytes on the disk of a folder, which need not exist yet. */
export async function freeBytesAt(folder: string): Promise<number> {
  let path = resolve(folder)
  while (!existsSync(path)) path = dirname(path)
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** Bytes on disk that the store in a folder takes, without trees of states; 0 if there is no such folder. */
export function storeBytesAt(folder: string): number {
  if (!existsSync(folder)) return 0
  // A file that a process maps has two names.
  const files = new Map<number, Stats>()
  for (const name of readdirSync(folder)) {
    const stats = name.startsWith('state-') ? undefined : statSync(join(folder, name), { throwIfNoEntry: false })
    if (stats?.isFile()) files.set(stats.ino, stats)
  }
  return [...files.values()].reduce((sum, { blocks }) => sum + blocks * 512, 0)
}
