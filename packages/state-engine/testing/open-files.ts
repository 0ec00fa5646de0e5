import { readdirSync, readlinkSync } from 'node:fs'

const DESCRIPTORS = '/proc/self/fd'

/** Paths of the segment files of a store that this process has open, once for each descriptor. Linux only. */
export function openSegmentFiles(folder: string): string[] {
  return readdirSync(DESCRIPTORS).flatMap((descriptor) => {
    try {
      const path = readlinkSync(`${DESCRIPTORS}/${descriptor}`)
      return path.startsWith(`${folder}/segment-`) ? [path] : []
    } catch {
      // The descriptor with which the list was read.
      return []
    }
  })
}
