import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const NAME = /^state-tree-(0|[1-9]\d{0,19})$/

/** Name of the file with the tree of a version. */
export function treeFileName(version: bigint): string {
  return `state-tree-${version}`
}

/** Versions that have a tree in a folder, the newest first; empty if the folder cannot be read. */
export function listStateTrees(folder: string): bigint[] {
  const versions: bigint[] = []
  try {
    for (const name of readdirSync(folder)) {
      const version = NAME.exec(name)?.[1]
      if (version !== undefined) versions.push(BigInt(version))
    }
  } catch {
    return []
  }
  return versions.sort((a, b) => (a > b ? -1 : 1))
}

/** Removes all trees of a folder except the newest. Readers that have one open are not disturbed. */
export function removeOldTrees(folder: string, kept: number): void {
  for (const version of listStateTrees(folder).slice(kept)) rmSync(join(folder, treeFileName(version)), { force: true })
}
