// A ledger that is committed, given marks and truncated in turn, in a computed order, for tests whose writer is killed.

import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { VersionWrites } from '@ledger-state/core'
import { createMemoryEngine, type LedgerSummary, type StateReader, type StateWriter } from '@ledger-state/engine'
import type { AtFailpoint } from '../src/failpoints/failpoints.ts'
import { STORE_FILE } from '../src/lmdb/lmdb-store.ts'
import {
  openStateEngineReader,
  openWithFailpoints,
  type StateEngine,
  type WriterOptions,
} from '../src/open-state-engine.ts'
import { KNOWN_CHAIN, knownKeys, knownVersion } from './known-ledger.ts'

/** Number of versions that the window keeps: more than all that is cut off between two prunes. */
const RETAINED = 260n
/**
 * Number of versions that a shallow truncation cuts off: they are in the newest file, and the cut is in the middle of a
 * batch.
 */
const SHALLOW = 7n
/** Number of versions that a deep truncation cuts off: some of them are merged. */
const DEEP = 95n

function truncates(step: number): bigint | undefined {
  if (step % 30 === 29) return DEEP
  return step % 12 === 11 ? SHALLOW : undefined
}

/** Makes the versions of a step, whose values name the step. Other steps write other keys in the same versions. */
function stepVersions(step: number, first: bigint): VersionWrites[] {
  // Some steps are larger than a segment.
  const count = step % 17 === 5 ? 40 : 10
  return Array.from({ length: count }, (_, at) => {
    const { writes, ...version } = knownVersion(first + BigInt(at))
    return {
      ...version,
      writes: writes
        .filter((_, place) => (place + step) % 3 > 0)
        .map(([key, value]) => [key, value && Buffer.concat([Buffer.from(`${step}:`), value])] as const),
    }
  })
}

function markOf(step: number): Uint8Array {
  return Buffer.from(String(step))
}

/** The last step that an engine took; none in an empty store. */
export function lastStep({
  ledger,
  mark,
}: {
  readonly ledger: unknown
  readonly mark: Uint8Array | undefined
}): number {
  return ledger ? Number(Buffer.from(mark!).toString()) : -1
}

function putsMark(step: number): boolean {
  return step % 5 === 3
}

/** Takes a step. Its mark shows that it was taken. */
export async function takeStep(engine: StateWriter, step: number): Promise<void> {
  const cut = truncates(step)
  const latest = engine.ledger?.latestVersion ?? -1n
  if (cut !== undefined) await engine.truncateTo(latest - cut, { mark: markOf(step) })
  else if (putsMark(step)) await engine.putMark(markOf(step))
  else await engine.commit(stepVersions(step, latest + 1n), { ...KNOWN_CHAIN, mark: markOf(step) })
}

export function prunesAfter(step: number): boolean {
  return step % 6 === 5
}

/** Takes `count` steps from the present state of the store, and prints each when it is acknowledged. */
export async function runSteps(
  options: WriterOptions,
  count: number,
  atFailpoint: AtFailpoint,
  stepsBetweenOpenings = Number.POSITIVE_INFINITY,
): Promise<void> {
  const open = () => openWithFailpoints(options, atFailpoint)
  let engine = open()
  const first = lastStep(engine) + 1
  for (let step = first; step < first + count; step++) {
    await takeStep(engine, step)
    process.stdout.write(`${step}\n`)
    if (prunesAfter(step)) await engine.prune(RETAINED)
    if (step % stepsBetweenOpenings !== stepsBetweenOpenings - 1) continue
    await engine.close()
    engine = open()
  }
  await engine.close()
}

/** Expected content of a store after a step. */
interface Expected {
  readonly ledger: LedgerSummary | undefined
  /** Value of each key at each version. */
  readonly values: readonly (readonly (Uint8Array | undefined)[])[]
}

const EMPTY: Expected = { ledger: undefined, values: [] }
const ORACLE = createMemoryEngine()
/** Expected content after each step: computed once, up to the last that was asked for. */
const AFTER_STEPS: Expected[] = []

async function expectedAfter(step: number): Promise<Expected> {
  for (let next = AFTER_STEPS.length; next <= step; next++) {
    await takeStep(ORACLE, next)
    const ledger = ORACLE.ledger!
    const before = (AFTER_STEPS[next - 1] ?? EMPTY).values
    const values = before.slice(0, Number(ledger.latestVersion) + 1)
    for (let version = values.length; version <= ledger.latestVersion; version++) {
      values.push(knownKeys().map((key) => ORACLE.at(BigInt(version)).get(key)))
    }
    AFTER_STEPS.push({ ledger, values })
  }
  return AFTER_STEPS[step] ?? EMPTY
}

/**
 * Checks that the store has the whole content after one of its steps, and not before the one that was acknowledged.
 * Then takes further steps, unless the store is only to be read.
 */
export async function expectStore(
  path: string,
  acknowledged: number,
  open: (path: string) => StateEngine,
  furtherSteps = 4,
): Promise<void> {
  await expectReadable(path)
  const engine = open(path)
  try {
    assert.deepEqual((await engine.check()).problems, [])
    const step = lastStep(engine)
    assert.ok(step >= acknowledged, `step ${step} is the last, ${acknowledged} was acknowledged`)
    expectSame(engine, await expectedAfter(step))
    for (let further = step + 1; further <= step + furtherSteps; further++) {
      await takeStep(engine, further)
      expectSame(engine, await expectedAfter(further))
    }
    if (furtherSteps > 0) assert.deepEqual((await engine.check()).problems, [])
  } finally {
    await engine.close()
  }
}

/** Checks that a reader sees the same before a writer has opened and repaired the store. */
async function expectReadable(path: string): Promise<void> {
  if (!existsSync(join(path, STORE_FILE))) return
  const reader = openStateEngineReader({ path })
  try {
    expectSame(reader, await expectedAfter(lastStep(reader)))
  } finally {
    await reader.close()
  }
}

function expectSame(engine: Pick<StateReader, 'ledger' | 'at'>, expected: Expected): void {
  if (!engine.ledger || !expected.ledger) {
    assert.equal(engine.ledger, expected.ledger)
    return
  }
  const { oldestVersion, oldestBlock, ...ledger } = engine.ledger
  const { oldestVersion: first, oldestBlock: _, ...whole } = expected.ledger
  assert.deepEqual(ledger, whole)
  assert.ok(oldestVersion >= first)
  const span = ledger.latestVersion - oldestVersion
  for (const share of [0n, 1n, 2n, 3n, 4n]) {
    const version = oldestVersion + (span * share) / 4n
    for (const [at, key] of knownKeys().entries()) {
      const found = engine.at(version).get(key)
      const wanted = expected.values[Number(version)]![at]
      const isSame = found && wanted ? Buffer.compare(found, wanted) === 0 : found === wanted
      assert.ok(isSame, `${Buffer.from(key)} at ${version}: ${startOf(found)}, not ${startOf(wanted)}`)
    }
  }
}

function startOf(value: Uint8Array | undefined): string | undefined {
  return value && Buffer.from(value.subarray(0, 20)).toString('latin1')
}
