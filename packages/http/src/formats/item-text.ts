import { JsonTextWriter } from '@ledger-state/bcs'
import type { StoredValue } from '@ledger-state/ledger'

/** JSON of something that is not there. */
export const NULL = Buffer.from('null')

/** The JSON of an item of a page, while it is printed. */
export interface ItemText {
  /** The text so far. */
  readonly json: JsonTextWriter
  /**
   * Appends a stored value.
   * @throws as `StoredValue.toJson`
   */
  value(stored: StoredValue): void
}

/** Prints an item. An item with long values is printed twice, and must be the same each time. */
export type PrintItem<T> = (item: T, text: ItemText) => void

/** The JSON of one item. */
export function itemToJson<T>(item: T, print: PrintItem<T>): string {
  const json = new JsonTextWriter()
  print(item, {
    json,
    value(stored) {
      if (!stored.appendJson(json)) json.text(stored.toJson())
    },
  })
  return json.takeText()
}
