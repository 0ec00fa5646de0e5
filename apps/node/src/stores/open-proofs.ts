import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateReader, StateEngineReader } from '@ledger-state/engine'
import { listStateTrees, openStateTree, type StateTree } from '@ledger-state/feed'
import type { StateProofs } from '@ledger-state/http'
import { readEpochChangeRange } from '@ledger-state/ingest'
import type { Logger } from 'pino'
import type { OpenBlockProofs } from './block-proofs.js'

/** Time for which the list of the trees in a folder is reused. */
const LIST_AGE_MS = 1_000

/** Proofs from the trees in a folder, with the epoch changes of a store. */
export interface OpenProofs extends StateProofs {
  close(): void
}

/**
 * Opens the trees of a folder, including those that are made later.
 * @param folder undefined if the store has none
 * @param blocks proofs at ends of blocks; undefined if there are none
 */
export function openProofs(
  engine: StateEngineReader | AsyncStateReader,
  folder: string | undefined,
  log: Pick<Logger, 'error'>,
  blocks?: OpenBlockProofs,
): OpenProofs {
  const trees = new Map<bigint, StateTree>()
  let versions: readonly bigint[] = []
  let listedAt = Number.NEGATIVE_INFINITY

  function look(): void {
    if (folder === undefined || performance.now() - listedAt < LIST_AGE_MS) return
    listedAt = performance.now()
    const listed = listedTrees(folder)
    if (!listed) return
    for (const [version, tree] of trees) {
      if (listed.includes(version)) continue
      tree.close()
      trees.delete(version)
    }
    versions = listed.filter((version) => trees.has(version) || open(folder, version))
  }

  /** Versions with a tree; undefined if the system does not list the folder now: then the trees stay as they were. */
  function listedTrees(folder: string): readonly bigint[] | undefined {
    try {
      return listStateTrees(folder)
    } catch (error) {
      if (isLedgerStateError(error, 'spill_failed')) return undefined
      throw error
    }
  }

  /** Whether the tree of a version can be used. A tree that cannot is logged. */
  function open(folder: string, version: bigint): boolean {
    try {
      const tree = openStateTree(folder, version)
      if (tree) trees.set(version, tree)
      return tree !== undefined
    } catch (error) {
      log.error(error instanceof Error ? error.message : String(error))
      return false
    }
  }

  return {
    get hashSalt() {
      look()
      return versions[0] === undefined ? blocks?.current()?.hashSalt : trees.get(versions[0])!.hashSalt
    },
    get versions() {
      look()
      return versions
    },
    at(version) {
      look()
      return trees.get(version)
    },
    get blocks() {
      return blocks?.current()
    },
    endings: (asked) => readEpochChangeRange(engine, asked),
    close() {
      for (const tree of trees.values()) tree.close()
      trees.clear()
      blocks?.close()
    },
  }
}
