// A ledger that is committed and truncated in turn, in an order that is computed: for tests whose writer is killed.

import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import { openWithFailurePoints, type StateEngine, type WriterOptions } from '../src/open-state-engine.ts'
import { createMemoryEngine } from '../src/port/memory-engine.ts'
import type { StateWriter } from '../src/port/ports.ts'
import type { AtFailurePoint } from '../src/write/failure-points.ts'
import { KNOWN_CHAIN, knownKeys, knownVersion } from './known-ledger.ts'

/** Versions that the window keeps: more than all that is cut off between two prunes. */
const RETAINED = 260n
/** Cuts off what is in the newest file, in the middle of a batch. */
const SHALLOW = 7n
/** Cuts off what is merged. */
const DEEP = 95n

function truncates(step: number): bigint | undefined {
  if (step % 30 === 29) return DEEP
  return step % 12 === 11 ? SHALLOW : undefined
}

/** The versions of a step, whose values tell the step. */
function stepVersions(step: number, first: bigint): VersionWrites[] {
  // Some are larger than a segment.
  const count = step % 17 === 5 ? 40 : 10
  return Array.from({ length: count }, (_, at) => {
    const { writes, ...version } = knownVersion(first + BigInt(at))
    return {
      ...version,
      writes: writes.map(([key, value]) => [key, value && Buffer.concat([Buffer.from(`${step}:`), value])] as const),
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

/** Takes a step: its mark tells that it was taken. */
export async function takeStep(engine: StateWriter, step: number): Promise<void> {
  const cut = truncates(step)
  const latest = engine.ledger?.latestVersion ?? -1n
  if (cut !== undefined) await engine.truncateTo(latest - cut, { mark: markOf(step) })
  else await engine.commit(stepVersions(step, latest + 1n), { ...KNOWN_CHAIN, mark: markOf(step) })
}

export function prunesAfter(step: number): boolean {
  return step % 6 === 5
}

/** Takes so many steps from where the store is, and prints each when it is acknowledged. */
export async function runSteps(
  options: WriterOptions,
  count: number,
  atFailurePoint: AtFailurePoint,
  stepsBetweenOpenings = Number.POSITIVE_INFINITY,
): Promise<void> {
  const open = () => openWithFailurePoints(options, atFailurePoint)
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

/**
 * The store is as after one of its steps, whole, at least the one that was acknowledged; and takes further steps. An `oracle`
 * that is given again and again takes the steps since the last time.
 */
export async function expectStore(
  path: string,
  acknowledged: number,
  open: (path: string) => StateEngine,
  oracle: StateWriter = createMemoryEngine(),
): Promise<void> {
  const engine = open(path)
  try {
    assert.deepEqual((await engine.check()).problems, [])
    const step = lastStep(engine)
    assert.ok(step >= acknowledged, `step ${step} is the last, ${acknowledged} was acknowledged`)
    const known = lastStep(oracle)
    assert.ok(step >= known, `step ${step} is the last, ${known} was in the store before`)
    for (let taken = known + 1; taken <= step; taken++) await takeStep(oracle, taken)
    expectSame(engine, oracle)
    for (let further = step + 1; further < step + 5; further++) {
      for (const one of [engine, oracle]) await takeStep(one, further)
      expectSame(engine, oracle)
    }
    assert.deepEqual((await engine.check()).problems, [])
  } finally {
    await engine.close()
  }
}

function expectSame(engine: StateWriter, oracle: StateWriter): void {
  if (!engine.ledger || !oracle.ledger) {
    assert.equal(engine.ledger, oracle.ledger)
    return
  }
  const { oldestVersion, oldestBlock, ...ledger } = engine.ledger
  const { oldestVersion: first, oldestBlock: _, ...expected } = oracle.ledger
  assert.deepEqual(ledger, expected)
  assert.ok(oldestVersion >= first)
  const span = ledger.latestVersion - oldestVersion
  for (const share of [0n, 1n, 2n, 3n, 4n]) {
    const version = oldestVersion + (span * share) / 4n
    for (const key of knownKeys()) {
      const [found, wanted] = [engine, oracle].map((one) => textOf(one.at(version).get(key)))
      assert.equal(found, wanted, `${Buffer.from(key)} at ${version}`)
    }
  }
}

function textOf(value: Uint8Array | undefined): string | undefined {
  return value && Buffer.from(value).toString('latin1')
}
