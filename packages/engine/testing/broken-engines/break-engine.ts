import type { KeyedEntry } from '@ledger-state/core'
import { overriding } from '@ledger-state/testing/overriding'
import type { CommitOptions, EngineView, StateWriter } from '../../src/ports/engine-ports.ts'
import type { LedgerSummary, Revision } from '../../src/ports/state-port.ts'

/** An engine with one fault, which the contract has to find. */
export interface BrokenEngine {
  /** What the engine does wrong, in words. */
  readonly fault: string
  /** Breaks a sound engine. `openings` counts how often its store was opened before. */
  breakEngine(engine: StateWriter, openings: number): StateWriter
}

/** Makes an engine some of whose members are replaced. */
export function broken(
  fault: string,
  replace: (engine: StateWriter, openings: number) => Partial<StateWriter>,
): BrokenEngine {
  return { fault, breakEngine: (engine, openings) => overriding(engine, replace(engine, openings)) }
}

/** Makes an engine some of whose views' members are replaced. */
export function brokenView(
  fault: string,
  replace: (view: EngineView, engine: StateWriter) => Partial<EngineView>,
): BrokenEngine {
  return broken(fault, (engine) => ({
    at: (version) => {
      const view = engine.at(version)
      return overriding(view, replace(view, engine))
    },
  }))
}

export type Versions = Parameters<StateWriter['commit']>[0]
export type Commit = (versions: Versions, options: CommitOptions) => Promise<void>

/** Returns `instead` if `work` throws. */
export function hiding<T>(work: () => T, instead: T): T {
  try {
    return work()
  } catch {
    return instead
  }
}

/** Ends a list without an error where the sound engine throws. */
export function* endingEarly<T>(items: Iterable<T>): Generator<T> {
  try {
    yield* items
  } catch {
    return
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

export function* mapping<T>(items: Iterable<T>, change: (item: T) => T): Generator<T> {
  for (const item of items) yield change(item)
}

export type { EngineView, KeyedEntry, LedgerSummary, Revision, StateWriter }
