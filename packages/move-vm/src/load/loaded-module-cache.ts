import { SizedCache } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { ModuleCharge } from '../budget/module-charge.js'
import type { LoadedModule } from './loaded-module.js'
import { ModuleReading } from './module-reading.js'

interface CachedModule {
  readonly bytes: Uint8Array
  readonly module: LoadedModule
}

/** Names under which a module is kept. */
interface KeptNames {
  readonly content: string
  readonly revisions: Set<string>
}

/** Most revisions of one content with sizes kept up to date. */
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

  /** Modules that were decoded and verified because they were not kept. */
  get misses(): number {
    return this.#misses
  }

  /** The module that was loaded for this key and revision, if it is still kept. */
  getRevision(key: string, revision: string): LoadedModule | undefined {
    return this.#byRevision.get(`${key}@${revision}`)
  }

  /** The module of these bytes, if it is kept. */
  find(key: string, bytes: Uint8Array, revision: string | undefined): LoadedModule | undefined {
    const known = this.#byContent.get(contentName(key, bytes))
    if (known === undefined || compareBytes(known.bytes, bytes) !== 0) return undefined
    const { module } = known
    if (revision !== undefined) this.#keepRevision(`${key}@${revision}`, module)
    return module
  }

  /** Begins to load a module that is not kept. */
  beginToRead(key: string, bytes: Uint8Array, charge: ModuleCharge): ModuleReading {
    this.#misses++
    return new ModuleReading(key, bytes, charge)
  }

  /** Keeps a module that was loaded, which `reading` has ended with. */
  keep({ key, bytes }: ModuleReading, module: LoadedModule, revision: string | undefined): void {
    const content = contentName(key, bytes)
    this.#byContent.set(content, { bytes, module }, sizeOf(module))
    this.#names.set(module, { content, revisions: new Set() })
    if (revision !== undefined) this.#keepRevision(`${key}@${revision}`, module)
  }

  #keepRevision(name: string, module: LoadedModule): void {
    const { revisions } = this.#names.get(module)!
    if (revisions.size === MOST_REVISIONS) {
      const [oldest] = revisions
      this.#byRevision.delete(oldest!)
      revisions.delete(oldest!)
    }
    revisions.add(name)
    this.#byRevision.set(name, module, sizeOf(module))
  }

  /** Counts the heap bytes of a module again, after code of it was compiled. */
  recount(module: LoadedModule): void {
    const names = this.#names.get(module)
    if (!names) return
    const size = sizeOf(module)
    this.#byContent.resize(names.content, size)
    for (const name of names.revisions) this.#byRevision.resize(name, size)
  }
}

function sizeOf(module: LoadedModule): number {
  return module.size + module.heapBytes
}

function contentName(key: string, bytes: Uint8Array): string {
  return `${key}/${bytes.length}/${sample(bytes)}`
}

const SAMPLED = 64

/** FNV-1a over some of the bytes. It separates most contents of one length; the bytes are compared in the end. */
function sample(bytes: Uint8Array): number {
  const step = Math.max(1, Math.floor(bytes.length / SAMPLED))
  let hash = 0x811c9dc5
  for (let at = 0; at < bytes.length; at += step) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return hash >>> 0
}
