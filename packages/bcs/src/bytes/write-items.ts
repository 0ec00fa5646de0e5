import type { ByteWriter } from '@ledger-state/core'
import { faultInside } from './value-path.js'

/** Writes the number of items, and then the items. */
export function writeItems<T>(
  items: readonly T[],
  write: (item: T | undefined, writer: ByteWriter) => void,
  writer: ByteWriter,
): void {
  writer.uleb128(items.length)
  for (let at = 0; at < items.length; at++) {
    try {
      write(items[at], writer)
    } catch (error) {
      throw faultInside(`[${at}]`, error)
    }
  }
}
