import assert from 'node:assert/strict'
import { type BlockInfo, isLedgerStateError, U64_MAX, type VersionWrites, type Write } from '@ledger-state/core'
import type { AsyncStateWriter } from '../ports/async-engine-ports.js'
import type { StateWriter } from '../ports/engine-ports.js'
import { asyncToContract, type ContractEngine, writerToContract } from './contract-engine.js'

/** Opens the one store of a case, which is empty at first. A case closes an engine before it opens the store again. */
export type OpenStore = () => StateWriter | Promise<StateWriter>
/** Opens the one store of a case for an asynchronous engine. */
export type OpenAsyncStore = () => Promise<AsyncStateWriter>

/** Properties in which engines may differ. */
export interface EngineTraits {
  /**
   * Whether prunes count all superseded entries. This also means that the engine writes all of them to its files first.
   */
  readonly countsEveryDrop: boolean
  /** The greatest version, height, epoch and time that the engine takes; 2^64 - 1 by default. */
  readonly greatestNumber?: bigint
}

/** A test of one thing that every engine does. It throws if the engine does not do it. */
export interface ContractCase {
  readonly name: string
  /**
   * Runs the case on the store that `open` opens. It rejects with the fault of the engine.
   * @param traits by default the traits of an engine that counts every drop
   */
  run(open: OpenStore, traits?: EngineTraits): Promise<void>
  /** Runs the case on an asynchronous engine. */
  runAsync(open: OpenAsyncStore, traits?: EngineTraits): Promise<void>
}

type Traits = Required<EngineTraits>
type OpenContractEngine = () => Promise<ContractEngine>

/** Makes a case that opens engines itself. */
export function storeCase(
  name: string,
  body: (open: OpenContractEngine, traits: Traits) => Promise<void>,
): ContractCase {
  const complete = (traits: EngineTraits = { countsEveryDrop: true }) => ({ greatestNumber: U64_MAX, ...traits })
  return {
    name,
    run: (open, traits) => body(async () => writerToContract(await open()), complete(traits)),
    runAsync: (open, traits) => body(async () => asyncToContract(await open()), complete(traits)),
  }
}

/** Makes a case for an engine on an empty store. `reopen` closes the engine and opens its store again. */
export function contractCase(
  name: string,
  body: (engine: ContractEngine, reopen: () => Promise<ContractEngine>, traits: Traits) => Promise<void>,
): ContractCase {
  return storeCase(name, async (open, traits) => {
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
  })
}

/** Collects all items of a list. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Iterates over the rest of a list. */
export function rest<T>(iterator: AsyncIterator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => ({ next: () => iterator.next() }) }
}

/** Reads the value of a key at a version, as text. */
export async function valueAt(engine: ContractEngine, key: Uint8Array, version?: bigint) {
  return text(await (await engine.at(version)).get(key))
}

/** Calls `ask` with each item, one after the other. */
export async function inTurn<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (const item of items) answers.push(await ask(item))
  return answers
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

/** Makes a version that is a separate block. */
export function version(number: bigint, ...writes: Write[]): VersionWrites {
  return { version: number, block: block(number), writes }
}

/**
 * Makes versions that are separate blocks, one for each value of a key. Undefined writes nothing, null deletes the key.
 */
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

/** Runs work, and returns the uncaught exceptions of the process during it. */
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
