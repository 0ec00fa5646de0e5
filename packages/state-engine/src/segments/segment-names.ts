import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { UNFINISHED } from './segment-writer.js'

const NAME = /^segment-(\d{1,15})(\.new|-lock)?$/

export function segmentPath(folder: string, file: number): string {
  return join(folder, `segment-${file}`)
}

/** Numbers of the segment files in a folder. */
export function listSegments(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const found = NAME.exec(name)
    return found && found[2] === undefined ? [Number(found[1])] : []
  })
}

/** Removes segment files that no row names, and what is left of files that were being written. */
export function removeUnnamedSegments(folder: string, named: ReadonlySet<number>): void {
  for (const name of readdirSync(folder)) {
    const found = NAME.exec(name)
    if (found && (found[2] !== undefined || !named.has(Number(found[1])))) rmSync(join(folder, name), { force: true })
  }
}

export function removeSegment(folder: string, file: number): void {
  for (const end of ['', UNFINISHED, '-lock']) rmSync(segmentPath(folder, file) + end, { force: true })
}
