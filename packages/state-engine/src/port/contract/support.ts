import assert from 'node:assert/strict'
import { type BlockInfo, isLedgerStateError, type VersionWrites, type Write } from '@ledger-state/core'
import type { StateWriter } from '../ports.js'

/** Opens the one store of a case, which is empty at first. A case closes an engine before it opens the store again. */
export type OpenStore = () => StateWriter | Promise<StateWriter>

/** In what engines may differ. */
export interface EngineTraits {
  /** Whether prunes count all that is superseded, which also means that all of it was written into the files before. */
  readonly countsEveryDrop: boolean
}

/** One thing that every engine does, as a test that throws unless the engine does it. */
export interface ContractCase {
  readonly name: string
  /**
   * Runs the case on the store that `open` opens; rejects with what the engine does wrong.
   * @param traits by default those of an engine that counts every drop
   */
  run(open: OpenStore, traits?: EngineTraits): Promise<void>
}

/** A case for an engine on an empty store. `reopen` closes the engine and opens its store again. */
export function contractCase(
  name: string,
  body: (engine: StateWriter, reopen: () => Promise<StateWriter>, traits: EngineTraits) => Promise<void>,
): ContractCase {
  return {
    name,
    async run(open, traits = { countsEveryDrop: true }) {
      let engine = await open()
      try {
        const reopen = async () => {
          await engine.close()
          engine = await open()
          return engine
        }
        await body(engine, reopen, traits)
      } finally {
        await engine.close()
      }
    },
  }
}

export const CHAIN = { chainId: 7 }

export const EMPTY = new Uint8Array(0)

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function text(value: Uint8Array | null | undefined): string | null | undefined {
  return value && new TextDecoder().decode(value)
}

export function block(height: bigint): BlockInfo {
  return { height, epoch: height >> 2n, timestampUsec: 10n * height }
}

/** A version that is a block of its own. */
export function version(number: bigint, ...writes: Write[]): VersionWrites {
  return { version: number, block: block(number), writes }
}

/** Versions that are blocks of their own, one for each value of a key; undefined writes nothing, null deletes. */
export function versionsOf(key: Uint8Array, first: bigint, values: readonly (string | null | undefined)[]) {
  return values.map((value, at) => {
    const write: Write[] = value === undefined ? [] : [[key, value === null ? null : bytes(value)]]
    return version(first + BigInt(at), ...write)
  })
}

export async function fails(code: string, work: () => unknown, message?: RegExp): Promise<void> {
  await assert.rejects(
    async () => work(),
    (error) => {
      assert.ok(isLedgerStateError(error), String(error))
      assert.equal(error.code, code)
      if (message) assert.match(error.message, message)
      return true
    },
  )
}

/** Runs work and returns what became an uncaught exception of the process meanwhile. */
export async function uncaughtDuring(work: () => Promise<void>): Promise<unknown[]> {
  const event = 'uncaughtException'
  const others = process.rawListeners(event) as NodeJS.UncaughtExceptionListener[]
  const uncaught: unknown[] = []
  process.removeAllListeners(event)
  process.on(event, (error) => uncaught.push(error))
  try {
    await work()
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.removeAllListeners(event)
    for (const other of others) process.on(event, other)
  }
  return uncaught
}
