import type { Write } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'

/** The items that the store does not have yet of tables of which it is not known what they hold, by number of the table. */
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

  /** The store has all items. */
  clear(): void {
    this.#byTable.clear()
  }
}
