import { isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { type ModuleId, type MoveModule, readModule } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import { moduleHeapSize } from '../caches/module-heap-size.js'

/** Bytes of heap of modules that can be loaded again. */
const CAPACITY = 64 << 20
/** What a module takes that is absent or cannot be read. */
const EMPTY_SIZE = 256

interface BookEntry {
  /** The module as it was read; undefined if it is absent or cannot be read. */
  readonly module: MoveModule | undefined
  readonly size: number
  /** Whether the store does not have it yet. */
  readonly isPending: boolean
}

/** The modules that types are laid out with, as they stand at the version that is looked at. What is not loaded is noted as lacking. */
export class ModuleBook {
  readonly #entries = new Map<string, BookEntry>()
  readonly #lacking = new Map<string, Uint8Array>()
  #size = 0
  /** Changes with every module that is written: what was found out about types may be another then. */
  revision = 0

  readonly find = (id: ModuleId): MoveModule | undefined => {
    const key = moduleKey(id.address, id.name)
    const text = bytesToHexDigits(key)
    const entry = this.#entries.get(text)
    if (!entry) this.#lacking.set(text, key)
    return entry?.module
  }

  /** Keys that were looked for in vain. */
  get lacking(): readonly Uint8Array[] {
    return [...this.#lacking.values()]
  }

  /** Takes in what the store has of a lacking module. */
  provide(key: Uint8Array, code: Uint8Array | undefined): void {
    const text = bytesToHexDigits(key)
    this.#lacking.delete(text)
    this.#set(text, code, false)
  }

  /** Takes in a module that is written and that the store does not have yet. */
  put(key: Uint8Array, code: Uint8Array | null): void {
    this.revision++
    this.#set(bytesToHexDigits(key), code ?? undefined, true)
  }

  /** Forgets that a module is absent: it may be written elsewhere now. */
  forget(key: Uint8Array): void {
    this.revision++
    this.#drop(bytesToHexDigits(key))
  }

  /** The store has all that was put. */
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
    // The definitions may hold views of the bytes.
    return readModule(code)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module')) return undefined
    throw error
  }
}
