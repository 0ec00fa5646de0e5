import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { spillFailed } from '../errors.js'

const NAME = /^state-tree-(0|[1-9]\d{0,19})$/

/** Name of the file with the tree of a version. */
export function treeFileName(version: bigint): string {
  return `state-tree-${version}`
}

/**
 * Versions that have a tree in a folder, the newest first; empty if there is no such folder.
 * @throws `spill_failed` if the system does not list it
 */
export function listStateTrees(folder: string): bigint[] {
  const versions: bigint[] = []
  for (const name of namesIn(folder)) {
    const version = NAME.exec(name)?.[1]
    if (version !== undefined) versions.push(BigInt(version))
  }
  return versions.sort((a, b) => (a > b ? -1 : 1))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw spillFailed.cannotRead(folder, error)
  }
}

/** Removes all trees of a folder except the newest. Readers that have one open are not disturbed. */
export function removeOldTrees(folder: string, kept: number): void {
  for (const version of listStateTrees(folder).slice(kept)) rmSync(join(folder, treeFileName(version)), { force: true })
}
