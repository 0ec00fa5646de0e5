import { DEFAULT_HASH_SALT, LedgerHasher } from '@ledger-state/proof'
import { joinAll, type Subtree, subtreeRoot } from './fold-leaves.js'
import { type EntryPages, hashPages } from './hash-pages.js'
import { LeafStore, PART_DEPTH, PARTS } from './leaf-store.js'
import { RootThreads } from './root-threads.js'

/** Memory for leaves by default: 1 GiB, for 16 million keys. */
export const DEFAULT_ROOT_MEMORY: number = 2 ** 30

/** Options for computing a state root. */
export interface StateRootOptions {
  /**
   * An existing folder for temporary files. They are removed at the end; the next process removes the files of a killed
   * one.
   */
  readonly spillFolder: string
  /** Bytes of leaves that are kept in memory before files are written, 64 a key; 1 GiB by default. */
  readonly memoryBytes?: number | undefined
  /** Threads that hash; by default the number of cores, and none on one core. */
  readonly threads?: number | undefined
  /** The word before the name of each hash, `APTOS::` by default. */
  readonly hashSalt?: string | undefined
  /** Called after each page with the number of keys so far. */
  readonly onProgress?: ((keys: number) => void) | undefined
  /** Ends the work between two pages: the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The root of a state, and its number of keys. */
export interface StateRoot {
  readonly root: Uint8Array
  readonly keys: number
}

/**
 * Computes the sparse Merkle root of a state from its entries, in any order: 32 bytes, as the ledger commits to it.
 * Keys of the store itself (`isOwnKey`) are left out. Memory is bounded, whatever the number of keys.
 * @param pages entries in groups of a few hundred or thousand
 * @throws `verification_failed` if a key comes twice; `spill_failed` if files cannot be written
 * @example
 * ```ts
 * import { tmpdir } from 'node:os'
 * import { computeStateRoot } from '@ledger-state/feed'
 *
 * const key = Uint8Array.of(0xff, 1)
 * const { keys } = await computeStateRoot([[{ key, version: 0n, value: Uint8Array.of(7) }]], { spillFolder: tmpdir() })
 * console.log(keys) // 1
 * ```
 */
export async function computeStateRoot(pages: EntryPages, options: StateRootOptions): Promise<StateRoot> {
  const { spillFolder, memoryBytes = DEFAULT_ROOT_MEMORY, hashSalt = DEFAULT_HASH_SALT } = options
  const threads = new RootThreads(hashSalt, options.threads)
  const leaves = new LeafStore(memoryBytes, spillFolder)
  try {
    const keys = await hashPages(pages, threads, leaves, options)
    const root = await foldAll(new LedgerHasher(hashSalt), threads, leaves, options)
    return { root: Uint8Array.from(root), keys }
  } finally {
    await threads.close()
    await leaves.close()
  }
}

async function foldAll(
  hasher: LedgerHasher,
  threads: RootThreads,
  leaves: LeafStore,
  { signal }: StateRootOptions,
): Promise<Uint8Array> {
  const folded: Promise<Subtree>[] = []
  for (let part = 0; part < PARTS; part++) {
    await threads.ready()
    signal?.throwIfAborted()
    const job = { kind: 'fold', leaves: await leaves.take(part), depth: PART_DEPTH } as const
    const subtree = threads.run(job) as Promise<Subtree>
    // An error of the subtree is thrown in its turn.
    subtree.catch(() => {})
    folded.push(subtree)
  }
  return subtreeRoot(joinAll(hasher, await Promise.all(folded)))
}
