import { isLedgerStateError, SizedCache } from '@ledger-state/core'
import { compareBytes, copyBytes } from '@ledger-state/core/bytes'
import { readModuleCode } from '@ledger-state/move-module'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import { LoadedModule } from './loaded-module.js'

interface CachedModule {
  readonly bytes: Uint8Array
  readonly module: LoadedModule
}

/** Names under which a module is kept. */
interface KeptNames {
  readonly content: string
  readonly revisions: Set<string>
}

/** Most revisions of one content whose sizes are kept up to date. */
const MOST_REVISIONS = 16

/** Loaded modules by their bytes. All runs of a vm share them; bytes of heap bound them. */
export class LoadedModuleCache {
  readonly #byRevision: SizedCache<LoadedModule>
  readonly #byContent: SizedCache<CachedModule>
  readonly #names = new WeakMap<LoadedModule, KeptNames>()
  readonly capacity: number
  #misses = 0

  constructor(capacity: number) {
    this.capacity = capacity
    // A module that has a revision is in both caches, as one object.
    this.#byRevision = new SizedCache(capacity, capacity / 4)
    this.#byContent = new SizedCache(capacity, capacity / 4)
  }

  /** Bytes of heap. */
  get size(): number {
    return this.#byContent.size
  }

  /** Modules that were decoded because they were not kept. */
  get misses(): number {
    return this.#misses
  }

  /** The module that was loaded for this key and revision, if it is still kept. */
  getRevision(key: string, revision: string): LoadedModule | undefined {
    return this.#byRevision.get(`${key}@${revision}`)
  }

  /**
   * The module of these bytes, decoded if it is not kept.
   * @throws VmFault
   */
  load(key: string, bytes: Uint8Array, revision: string | undefined): LoadedModule {
    const content = `${key}/${bytes.length}/${sample(bytes)}`
    const known = this.#byContent.get(content)
    const isSame = known !== undefined && compareBytes(known.bytes, bytes) === 0
    const kept = isSame ? known : this.#decode(bytes)
    const { module } = kept
    const size = bytes.length + module.heapBytes
    if (!isSame) {
      this.#byContent.set(content, kept, size)
      this.#names.set(module, { content, revisions: new Set() })
    }
    if (revision !== undefined) this.#keepRevision(`${key}@${revision}`, module, size)
    return module
  }

  #keepRevision(name: string, module: LoadedModule, size: number): void {
    const { revisions } = this.#names.get(module)!
    if (revisions.size === MOST_REVISIONS) {
      const [oldest] = revisions
      this.#byRevision.delete(oldest!)
      revisions.delete(oldest!)
    }
    revisions.add(name)
    this.#byRevision.set(name, module, size)
  }

  /** Counts the heap bytes of a module anew, after code of it was compiled. */
  recount(module: LoadedModule): void {
    const names = this.#names.get(module)
    if (!names) return
    const size = module.size + module.heapBytes
    this.#byContent.resize(names.content, size)
    for (const name of names.revisions) this.#byRevision.resize(name, size)
  }

  /** Decodes a copy: a module refers to its bytes for as long as it is kept, which is longer than the state has them. */
  #decode(given: Uint8Array): CachedModule {
    this.#misses++
    const bytes = copyBytes(given)
    return { bytes, module: decode(bytes) }
  }
}

function decode(bytes: Uint8Array): LoadedModule {
  try {
    return new LoadedModule(readModuleCode(bytes), bytes.length)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_module')) throw error
    throw new VmFault(STATUS.CODE_DESERIALIZATION_ERROR, `Deserialization error: ${error.message}`)
  }
}

const SAMPLED = 64

/** FNV-1a over some of the bytes. It separates most contents of one length; the bytes are compared in the end. */
function sample(bytes: Uint8Array): number {
  const step = Math.max(1, Math.floor(bytes.length / SAMPLED))
  let hash = 0x811c9dc5
  for (let at = 0; at < bytes.length; at += step) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return hash >>> 0
}
