import type { Write } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'

/** Items of tables without known types that are not in the store yet; by number of the table. */
export class UntypedItems {
  readonly #byTable = new Map<number, Map<string, Write>>()

  note(table: number, key: Uint8Array, value: Uint8Array | null): void {
    let items = this.#byTable.get(table)
    if (!items) {
      items = new Map()
      this.#byTable.set(table, items)
    }
    items.set(bytesToHexDigits(key), [key, value])
  }

  has(table: number, key: Uint8Array): boolean {
    return this.#byTable.get(table)?.has(bytesToHexDigits(key)) === true
  }

  /** The newest write of each key. */
  writesOf(table: number): readonly Write[] {
    return [...(this.#byTable.get(table)?.values() ?? [])]
  }

  /** Forgets all items, as the store has them now. */
  clear(): void {
    this.#byTable.clear()
  }
}
