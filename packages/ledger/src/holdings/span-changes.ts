import type { StateReader } from '@ledger-state/engine'
import type { Span } from './spans.js'

/** A write of a store: an account's amounts in it before and after. Both may be the same. */
export interface SpanChange {
  readonly version: bigint
  readonly before: bigint
  readonly after: bigint
}

/** Versions from `first` to `last`. */
export interface VersionRange {
  readonly first: bigint
  readonly last: bigint
}

/** The writes of a span within a range, the newest first. */
export function* changesNewestFirst(reader: StateReader, span: Span, range: VersionRange): Generator<SpanChange> {
  const { first, last } = within(span, range)
  let newer: { readonly version: bigint; readonly after: bigint } | undefined
  for (const { version, value } of reader.history(span.key, { last, order: 'desc' })) {
    const amount = span.amountIn(value)
    if (newer) yield { ...newer, before: amount }
    if (version < first) return
    newer = { version, after: amount }
  }
  if (newer) yield { ...newer, before: 0n }
}

/** The writes of a span within a range, the oldest first. */
export function* changesOldestFirst(reader: StateReader, span: Span, range: VersionRange): Generator<SpanChange> {
  const { first, last } = within(span, range)
  let before = 0n
  if (first > 0n) {
    for (const { value } of reader.history(span.key, { last: first - 1n, order: 'desc' })) {
      before = span.amountIn(value)
      break
    }
  }
  for (const { version, value } of reader.history(span.key, { first, last, order: 'asc' })) {
    const after = span.amountIn(value)
    yield { version, before, after }
    before = after
  }
}

/** The part of a span that is within a range. */
export function within(span: Span, range: VersionRange): VersionRange {
  return {
    first: span.first > range.first ? span.first : range.first,
    last: span.last < range.last ? span.last : range.last,
  }
}
