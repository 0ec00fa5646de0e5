import { isLedgerStateError } from '@ledger-state/core'
import type { LedgerSummary } from '../../src/ports/state-port.ts'
import { type EnginePatch, onEngine } from './patches.ts'

export type Listener = (ledger: LedgerSummary) => void

/** Ends a list without an error where the sound engine throws. */
export function* endingEarly<T>(items: Iterable<T>): Generator<T> {
  try {
    yield* items
  } catch {
    return
  }
}

export function* mapping<T>(items: Iterable<T>, change: (item: T) => T): Generator<T> {
  for (const item of items) yield change(item)
}

/** Continues a list in the present branch after the items that were read already. */
export function* goingOn<T>(items: Iterable<T>, again: () => Iterable<T>): Generator<T> {
  let count = 0
  try {
    for (const item of items) {
      count++
      yield item
    }
  } catch (error) {
    if (!isLedgerStateError(error, 'version_truncated')) throw error
    for (const item of again()) if (count-- <= 0) yield item
  }
}

export function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}

/** Returns the same array for all equal ones, although each caller should get a copy. */
export function sharing<T extends Uint8Array | null | undefined>(): (bytes: T) => T {
  const known = new Map<string, T>()
  return (bytes) => {
    if (!bytes) return bytes
    const shared = known.get(textOf(bytes)) ?? bytes
    known.set(textOf(bytes), shared)
    return shared
  }
}

/** Puts something between an engine and its listeners. Anything else than a listener is refused as before. */
export function listening(wrap: (listener: Listener, ledger: LedgerSummary | undefined) => Listener): EnginePatch {
  return onEngine.given('onCommit', ([listener, ...rest], engine) => [
    typeof listener === 'function' ? wrap(listener, engine.ledger) : listener,
    ...rest,
  ])
}

/** Reports another ledger than the engine has. */
export function ledgers(change: (ledger: LedgerSummary, openings: number) => LedgerSummary): EnginePatch {
  return (engine, openings) => ({
    get ledger() {
      return engine.ledger && change(engine.ledger, openings)
    },
  })
}

/** Reports another mark than the engine has, until one of its methods forgets it. */
export function marks(patch: (keep: (mark: Uint8Array | undefined) => void) => EnginePatch): EnginePatch {
  return (engine, openings) => {
    let kept: Uint8Array | undefined
    const members = patch((mark) => {
      kept = mark
    })(engine, openings)
    return {
      ...members,
      get mark() {
        return kept ?? engine.mark
      },
    }
  }
}

/** Joins patches of different members. */
export function all(...patches: readonly EnginePatch[]): EnginePatch {
  return (engine, openings) => Object.assign({}, ...patches.map((patch) => patch(engine, openings)))
}

/** Keeps the listeners of an engine, to call them when it does not. */
export function withListeners(patch: (tell: Listener) => EnginePatch): EnginePatch {
  return (engine, openings) => {
    const listeners = new Set<Listener>()
    const tell: Listener = (ledger) => {
      for (const listener of listeners) listener(ledger)
    }
    const keep = onEngine.replaced('onCommit', (onCommit) => (listener, options) => {
      listeners.add(listener)
      const remove = onCommit(listener, options)
      return () => {
        listeners.delete(listener)
        remove()
      }
    })
    return { ...keep(engine, openings), ...patch(tell)(engine, openings) }
  }
}
