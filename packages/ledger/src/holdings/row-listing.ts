import { compareBytes, copyBytes } from '@ledger-state/core/bytes'
import { isSkipped, type StateView, scanInSteps } from '@ledger-state/engine'
import { HOLDINGS_PREFIX_LENGTH, type HoldingsFamily, holdingsPrefix } from '@ledger-state/records'

/** Most rows of the index that one page reads or skips. A page that omits items may end before its limit. */
const MOST_ROWS = 10_000

/** Start and end of a page of holdings. */
export interface HoldingsPageOptions {
  /** Where the page begins: the `cursor` of the page before. */
  readonly start?: Uint8Array | undefined
  /** Most items of the page; all by default. */
  readonly limit?: number | undefined
  /** Called before each item except the first. If it returns true, the page ends there. */
  readonly isFull?: (() => boolean) | undefined
}

/**
 * A page of holdings. The iteration also yields undefined after work that found no item, so that its caller can yield
 * to the event loop. It can be iterated once.
 */
export interface HoldingsPage<T> extends Iterable<T | undefined> {
  /** Start of the next page, known at the end of the iteration; undefined if nothing follows. */
  readonly cursor: Uint8Array | undefined
}

/** A row of the index of holdings. */
export interface HoldingsRow {
  /** The part of its key after the owner, asset or collection. */
  readonly second: Uint8Array
  readonly value: Uint8Array
  /** Version that wrote the row. */
  readonly version: bigint
  /** Start of a page that begins with the row. */
  readonly cursor: Uint8Array
}

/** Rows that the version does not have, but others do: an old version lacks most of them. */
export interface SkippedRows {
  /** The part of the last key after the owner, asset or collection. */
  readonly second: Uint8Array
  /** Start of a page that begins after them. */
  readonly cursor: Uint8Array
  readonly skipped: number
}

/** A row, or work that has found none. */
export type RowStep = HoldingsRow | SkippedRows

export function isRow(step: RowStep): step is HoldingsRow {
  return !('skipped' in step)
}

const ZERO = Uint8Array.of(0)

/**
 * Reads the rows of a family that belong to one owner, asset or collection, starting at a given row.
 * @param name the first bytes of the part after it; any if it is undefined
 */
export function* scanRows(
  view: StateView,
  family: HoldingsFamily,
  first: Uint8Array,
  start: Uint8Array | undefined,
  name?: Uint8Array,
): Generator<RowStep> {
  const prefix = holdingsPrefix(family, first)
  for (const step of scanInSteps(view, name ? joined(prefix, name) : prefix, {
    start: start && joined(prefix, start),
  })) {
    const second = copyBytes(step.key, HOLDINGS_PREFIX_LENGTH)
    if (isSkipped(step)) yield { second, cursor: joined(second, ZERO), skipped: step.skipped }
    else yield { second, value: step.value, version: step.version, cursor: second }
  }
}

/**
 * Merges the rows of two families, which have no row in common, by the parts of their keys after the owner. A row comes
 * before rows that were skipped up to the same part, because the cursor of these is after it.
 */
export function* mergeRows(left: Iterator<RowStep>, right: Iterator<RowStep>): Generator<RowStep> {
  let [a, b] = [left.next(), right.next()]
  while (!a.done || !b.done) {
    if (b.done || (!a.done && isBefore(a.value, b.value))) {
      if (a.done) return
      yield a.value
      a = left.next()
    } else {
      yield b.value
      b = right.next()
    }
  }
}

function isBefore(a: RowStep, b: RowStep): boolean {
  const order = compareBytes(a.second, b.second)
  return order < 0 || (order === 0 && isRow(a))
}

/** Creates a page of the items of rows. `read` returns undefined for a row that the page omits. */
export function createHoldingsPage<T>(
  rows: Iterable<RowStep>,
  { limit, isFull }: HoldingsPageOptions,
  read: (row: HoldingsRow) => T | undefined,
): HoldingsPage<T> {
  let cursor: Uint8Array | undefined
  function* items(): Generator<T | undefined> {
    let seen = 0
    let shown = 0
    for (const row of rows) {
      if (seen >= MOST_ROWS || (shown > 0 && isFull?.())) {
        cursor = row.cursor
        return
      }
      seen += isRow(row) ? 1 : row.skipped
      const item = isRow(row) ? read(row) : undefined
      if (item !== undefined && shown++ === limit) {
        cursor = row.cursor
        return
      }
      yield item
    }
  }
  return {
    get cursor() {
      return cursor
    },
    [Symbol.iterator]: items,
  }
}

export function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
