import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StateReader, StateWriter } from '@ledger-state/engine'
import { eventually } from '@ledger-state/testing/eventually'
import { createRandom, type Random } from '@ledger-state/testing/random'
import type { ChangeSource } from '../src/changes/change-source.ts'
import { type RunningServer, startServerOver, stopServer } from './one-item-server.ts'
import { StreamClient } from './stream-client.ts'
import { randomFilter, StreamLedger } from './stream-ledger.ts'
import { unsteadyChanges } from './unsteady-changes.ts'

/** A reader of the store of a random test. */
export interface StreamReader {
  readonly state: StateReader
  readonly changes: ChangeSource
  close(): Promise<void>
}

/** How much one round of the random test does. */
export interface StreamRound {
  readonly steps: number
  readonly clients: number
  /** Longest time until a reader has a commit, in milliseconds; 0 by default. */
  readonly readerLagMs?: number
}

/** Counts of a round, to see that it did something. */
export interface StreamOutcome {
  readonly events: ReadonlyMap<string, number>
  readonly restarts: number
}

/**
 * Clients with random filters read a store from anywhere, leave and resume at any time, at any reader, while versions
 * are committed, cut off and pruned. Each event is compared with the model. In the end each client has everything; then
 * all filters are asked again, warm, and by new clients.
 * @param openReader opens a reader as soon as the store has its first versions
 */
export async function runRandomStreams(
  random: Random,
  engine: StateWriter,
  openReader: () => StreamReader,
  { steps, clients: count, readerLagMs = 0 }: StreamRound,
): Promise<StreamOutcome> {
  const ledger = new StreamLedger(random, engine, readerLagMs)
  await ledger.commit(3 + random.below(30))
  const readers = Array.from({ length: 2 }, openReader)
  const sources = readers.map(({ changes }) => unsteadyChanges(changes, createRandom(1 + random.below(1e9))))
  const faults: unknown[] = []
  const servers: RunningServer[] = []
  for (const [at, { state }] of readers.entries()) {
    const changes = sources[at]!
    servers.push(
      await startServerOver(state, {
        changes,
        maxStreams: 10_000,
        maxStreamsPerAddress: 10_000,
        // Heartbeats follow each other closely.
        idleTimeoutMs: 300,
        onUnexpectedError: (error) => faults.push(error),
      }),
    )
  }
  const urlOf = () => `http://127.0.0.1:${random.pick(servers).port}/v1/stream`
  const filters = Array.from({ length: count }, () => randomFilter(random))
  const clients = filters.map((filter) => new StreamClient(ledger, filter, random))
  const isOver = { writer: false }
  const follow = async (client: StreamClient, isDone: () => boolean): Promise<void> => {
    while (!isDone()) {
      await client.read(urlOf())
      const chance = random.below(40)
      if (chance < 4) client.leave()
      else if (chance === 4) client.restart()
      else if (chance < 8) for (let left = random.below(30); left > 0; left--) await nextTurn()
    }
    client.leave()
  }
  try {
    const write = async (): Promise<void> => {
      for (let step = 0; step < steps; step++) {
        const chance = random.below(12)
        if (chance === 0) await ledger.truncate()
        else if (chance === 1) await ledger.prune()
        else await ledger.commit(1 + random.below(5))
        for (let left = random.below(60); left > 0; left--) await nextTurn()
      }
      isOver.writer = true
    }
    await Promise.all([write(), ...clients.map((client) => follow(client, () => isOver.writer && client.isDone))])
    const again = filters.flatMap((filter) => [0, 1].map(() => new StreamClient(ledger, filter, random)))
    await Promise.all(again.map((client) => follow(client, () => client.isDone)))
    clients.push(...again)
    await eventually(
      () => sources.every(({ openCursors }) => openCursors === 0),
      () => `closed cursors, but ${sources.map(({ openCursors }) => openCursors)} are open`,
    )
    assert.deepEqual(faults, [])
    assert.deepEqual(
      sources.flatMap((source) => source.faults),
      [],
    )
  } finally {
    isOver.writer = true
    for (const client of clients) client.leave()
    await Promise.all(servers.map(stopServer))
    for (const reader of readers) await reader.close()
  }
  const events = new Map<string, number>()
  for (const client of clients) {
    for (const [kind, seen] of client.events) events.set(kind, (events.get(kind) ?? 0) + seen)
  }
  return { events, restarts: clients.reduce((sum, one) => sum + one.restarts, 0) }
}
