import { statfsSync } from 'node:fs'

/** Free bytes of the disk of a path; infinite where the system does not say. */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
