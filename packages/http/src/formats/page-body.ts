/** Body to which a page is written, item by item. */
export interface PageBody<T> {
  /** Bytes written so far. */
  readonly length: number
  /**
   * Adds an item and counts its memory.
   * @throws `overloaded`
   */
  add(item: T): void
  toBytes(): Uint8Array
}
