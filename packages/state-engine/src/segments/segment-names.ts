import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MAPPED } from './mapped-file.js'

const NAME = /^segment-(\d{1,15})(\.new|\.map-.*)?$/
/** Time in milliseconds after which no process still maps a file by the name that it made for that. */
const MAPPING_MS = 60_000

export function segmentPath(folder: string, file: number): string {
  return join(folder, `segment-${file}`)
}

/** Whether a name is a segment file's, or that of one that is written or mapped. */
export function isSegmentName(name: string): boolean {
  return NAME.test(name)
}

/** Numbers of the segment files in a folder. */
export function listSegments(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const found = NAME.exec(name)
    return found && found[2] === undefined ? [Number(found[1])] : []
  })
}

/** Removes segment files that no row names, and unfinished files. */
export function removeUnnamedSegments(folder: string, named: ReadonlySet<number>): void {
  for (const name of readdirSync(folder)) {
    const found = NAME.exec(name)
    if (!found || (found[2] === undefined && named.has(Number(found[1])))) continue
    const path = join(folder, name)
    const isBeingMapped = found[2]?.startsWith(MAPPED) && Date.now() - changedMs(path) < MAPPING_MS
    if (!isBeingMapped) rmSync(path, { force: true })
  }
}

/** When a file was linked last; 0 if it is gone. */
function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0
}
