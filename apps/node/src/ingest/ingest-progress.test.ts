import { Writable } from 'node:stream'
import type { LedgerSource, SourceProgress } from '@ledger-state/feed'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PaceMeter } from './ingest-pace.js'
import { createIngestProgress, createLoggedProgress } from './ingest-progress.js'

const MIB = 2 ** 20
const nothing = { entries: 0, versions: 0, writes: 0, bytes: 0, latestVersion: undefined }
const ofVersions = (done: number, fetchedBytes?: number): SourceProgress => ({
  done,
  total: 1_000,
  unit: 'versions',
  fetchedBytes,
})

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A source that has only a progress. */
function sourceAt(progress: SourceProgress): { readonly source: LedgerSource; at(progress: SourceProgress): void } {
  let now = progress
  const source = {
    description: 'source',
    chainId: 1,
    position: '',
    mark: undefined,
    get progress() {
      return now
    },
    async *versions() {},
    close: async () => {},
  }
  return { source, at: (next) => (now = next) }
}

function terminal(columns: number): { readonly stream: NodeJS.WriteStream; taken(): string[] } {
  let written = ''
  const sink = new Writable({
    write(piece, _, done) {
      written += piece
      done()
    },
  })
  const stream = Object.assign(sink, { isTTY: true, columns })
  const taken = (): string[] => {
    const lines = written.split('\r\u001b[K').filter((line) => line !== '')
    written = ''
    return lines
  }
  return { stream: stream as unknown as NodeJS.WriteStream, taken }
}

describe('PaceMeter', () => {
  it('has the rates of the last minute, and by them the time that is left', () => {
    const meter = new PaceMeter()
    const counted = (writes: number) => ({ ...nothing, writes, bytes: 100 * writes })
    meter.measure(nothing, ofVersions(0, 0), 0)
    meter.measure(counted(10_000), ofVersions(500, MIB), 1_000)
    for (let second = 2; second <= 100; second++) {
      const done = 500 + second
      meter.measure(counted(10_000 + 10 * second), ofVersions(done, MIB + 1_000 * second), 1_000 * second)
    }
    expect(meter.measure(counted(11_000), ofVersions(600, MIB + 100_000), 100_000)).toMatchObject({
      share: 0.6,
      secondsLeft: 400,
      writesPerSecond: 10,
      bytesPerSecond: 1_000,
      fetchedBytesPerSecond: 1_000,
    })
  })

  it('starts over with the versions after a state, and with a source that was opened again', () => {
    const meter = new PaceMeter()
    const state = { unit: 'entries', total: 10, fetchedBytes: 500 } as const
    meter.measure(nothing, { ...state, done: 0 }, 0)
    meter.measure({ ...nothing, entries: 10 }, { ...state, done: 10 }, 10_000)
    const after = { ...nothing, entries: 10 }
    expect(meter.measure(after, ofVersions(1, 500), 20_000)).toMatchObject({
      writesPerSecond: 0,
      secondsLeft: undefined,
    })
    expect(meter.measure({ ...after, writes: 30 }, ofVersions(4, 500), 23_000)).toMatchObject({
      writesPerSecond: 10,
      secondsLeft: 996,
    })
    expect(meter.measure({ ...after, writes: 30 }, ofVersions(0, 0), 24_000)).toMatchObject({
      fetchedBytesPerSecond: 0,
      secondsLeft: undefined,
    })
  })
})

describe('the progress of an ingest', () => {
  it('on a terminal says how much is fetched before anything is ingested, and is one line of its width', () => {
    const { stream, taken } = terminal(80)
    const { source, at } = sourceAt(ofVersions(0, 0))
    const progress = createIngestProgress(stream, 'ingesting', source)
    at(ofVersions(0, MIB))
    vi.advanceTimersByTime(1_000)
    expect(taken()).toEqual(['ingesting: nothing yet, 0.0 %, fetched 1.0 MiB at 1.0 MiB/s, 0 writes/s'])
    at(ofVersions(250, 2 * MIB))
    vi.advanceTimersByTime(999)
    progress.update(
      { ...nothing, versions: 250, writes: 1_999, bytes: 3 * MIB, latestVersion: 1_249n },
      source.progress,
    )
    expect(taken()).toEqual(['ingesting: version 1249, 25.0 %, 6.0 s left, fetched 2.0 MiB at 1.0 MiB/s'])
    progress.finish()
    vi.advanceTimersByTime(60_000)
    expect(taken()).toEqual([])
  })

  it('of a state says its entries; of a folder nothing is fetched', () => {
    const { stream, taken } = terminal(200)
    const { source, at } = sourceAt({ done: 0, total: 4_000, unit: 'entries' })
    const progress = createIngestProgress(stream, 'ingesting', source)
    vi.advanceTimersByTime(500)
    at({ done: 1_000, total: 4_000, unit: 'entries' })
    progress.update({ ...nothing, entries: 1_000, bytes: MIB }, source.progress)
    expect(taken()).toEqual([
      'ingesting: 1,000 of 4,000 entries of the state, 25.0 %, 1.5 s left, 2,000 writes/s, 1.0 MiB at 2.0 MiB/s',
    ])
    progress.finish()
  })

  it('is a line of the log each minute, in fields', () => {
    const lines: Record<string, unknown>[] = []
    const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) })
    const { source, at } = sourceAt(ofVersions(0, 0))
    const progress = createLoggedProgress(log, source)
    for (let second = 1; second <= 120; second++) {
      at(ofVersions(5 * second, 1_000 * second))
      progress.update({ ...nothing, writes: 50 * second, latestVersion: BigInt(5 * second) }, source.progress)
      vi.advanceTimersByTime(1_000)
    }
    const line = { level: 30, msg: 'ingesting the backup of the network', unit: 'versions', total: 1_000 }
    const rates = { writesPerSecond: 50, fetchedBytesPerSecond: 1_000 }
    expect(lines).toEqual([
      { ...line, ...rates, version: '300', done: 300, percent: 30, secondsLeft: 140, fetchedBytes: 60_000 },
      { ...line, ...rates, version: '600', done: 600, percent: 60, secondsLeft: 80, fetchedBytes: 120_000 },
    ])
    progress.finish()
  })
})
