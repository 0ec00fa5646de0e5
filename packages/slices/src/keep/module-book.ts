import { isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { type ModuleId, type MoveModule, moduleHeapSize, readModule } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'

/** Heap of modules that can be loaded again. */
const CAPACITY = 64 << 20
/** Heap of a module that is absent or cannot be read. */
const EMPTY_SIZE = 256

interface BookEntry {
  /** The module as it was read; undefined if it is absent or cannot be read. */
  readonly module: MoveModule | undefined
  readonly size: number
  /** Whether the module was put and is not in the store yet. */
  readonly isPending: boolean
}

/**
 * The modules that define the layouts of types, as of the version that is being looked at. Modules that are not loaded
 * are noted as lacking.
 */
export class ModuleBook {
  readonly #entries = new Map<string, BookEntry>()
  readonly #lacking = new Map<string, Uint8Array>()
  #size = 0
  /** Number that changes with every module that is written, since findings about types may change, too. */
  revision = 0

  readonly find = (id: ModuleId): MoveModule | undefined => {
    const key = moduleKey(id.address, id.name)
    const text = bytesToHexDigits(key)
    const entry = this.#entries.get(text)
    if (!entry) this.#lacking.set(text, key)
    return entry?.module
  }

  /** Keys of modules that were needed and are not loaded. */
  get lacking(): readonly Uint8Array[] {
    return [...this.#lacking.values()]
  }

  /** Takes the store's value for a lacking module. */
  provide(key: Uint8Array, code: Uint8Array | undefined): void {
    const text = bytesToHexDigits(key)
    this.#lacking.delete(text)
    this.#set(text, code, false)
  }

  /** Takes a module that was written and is not in the store yet. */
  put(key: Uint8Array, code: Uint8Array | null): void {
    this.revision++
    this.#set(bytesToHexDigits(key), code ?? undefined, true)
  }

  /** Forgets that a module is absent: it may have been written elsewhere. */
  forget(key: Uint8Array): void {
    this.revision++
    this.#drop(bytesToHexDigits(key))
  }

  /** Notes that the store now has all modules that were put. */
  settle(): void {
    if (this.#size <= CAPACITY && this.#entries.size === 0) return
    const isFull = this.#size > CAPACITY
    for (const [text, entry] of this.#entries) {
      if (isFull) this.#drop(text)
      else if (entry.isPending) this.#entries.set(text, { ...entry, isPending: false })
    }
  }

  #set(text: string, code: Uint8Array | undefined, isPending: boolean): void {
    this.#drop(text)
    const module = code && readIfSound(code)
    const size = 2 * text.length + (module ? moduleHeapSize(module, code) : EMPTY_SIZE)
    this.#entries.set(text, { module, size, isPending })
    this.#size += size
  }

  #drop(text: string): void {
    this.#size -= this.#entries.get(text)?.size ?? 0
    this.#entries.delete(text)
  }
}

function readIfSound(code: Uint8Array): MoveModule | undefined {
  try {
    // A copy, because the definitions may hold views of the bytes.
    return readModule(code)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module')) return undefined
    throw error
  }
}
