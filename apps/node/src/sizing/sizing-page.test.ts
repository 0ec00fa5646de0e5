// Compares docs/sizing.md with the code's results. After a new measurement: change measured.ts, the table at the
// top of the page, and the rows that this test prints.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { forecastWindow, type LedgerShape, measureStore } from './forecast.js'
import {
  INDEX_BYTES_PER_KEY,
  INDEX_BYTES_PER_WRITE,
  MEASURED,
  MEASURED_COMPRESSED,
  READER_BYTES,
  SUPERVISOR_BYTES,
  WRITER_BYTES,
  WRITES_PER_SECOND,
} from './measured.js'
import { forecastLedger, forecastRow } from './sizing-rows.js'

const page = readFileSync(new URL('../../../../docs/sizing.md', import.meta.url), 'utf8')
/** Cells of all tables, without cells that only align columns. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

const LEDGERS: Readonly<Record<string, LedgerShape & { readonly all: number }>> = {
  Mainnet: { keys: 1e9, writesPerVersion: 6.6, all: 8e9 },
  Testnet: { keys: 0.5e9, writesPerVersion: 6.6, all: 8e9 },
  'A small chain': { keys: 13e6, writesPerVersion: 3.5, all: 100e6 },
}

describe('docs/sizing.md', () => {
  it.each(Object.entries(LEDGERS))('has the tables of %s', (name, ledger) => {
    expect(page).toContain(`## ${name}\n`)
    for (const window of forecastLedger(ledger, ledger.all)) expect(rows).toContainEqual(forecastRow(window))
  })

  it('names the measured figures that the code computes with', () => {
    const figures = rows.map(([, value]) => value)
    const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`
    for (const value of [
      `${MEASURED.bytesPerWrite} bytes`,
      `${MEASURED.bytesPerKey} bytes`,
      `${MEASURED_COMPRESSED.bytesPerWrite} bytes`,
      `${MEASURED_COMPRESSED.bytesPerKey} bytes`,
      `× ${MEASURED.growth}`,
      `${INDEX_BYTES_PER_KEY} bytes`,
      `${INDEX_BYTES_PER_WRITE} bytes`,
      mebibytes(SUPERVISOR_BYTES),
      mebibytes(READER_BYTES),
      mebibytes(WRITER_BYTES),
      ...Object.values(WRITES_PER_SECOND).map((rate) => rate.toLocaleString('en-US')),
    ]) {
      expect(figures).toContain(value)
    }
  })
})

describe('a forecast', () => {
  it('from a store repeats the store', () => {
    const file = { fileBytes: 150_000, freeBytes: 30_000 }
    const store = { keys: 200, historyEntries: 1_000, mergedWrites: 1_200, versions: 500, ...file }
    const { shape, measured } = measureStore(store)!
    expect(shape).toEqual({ keys: 200, writesPerVersion: 2 })
    const unmerged = measureStore({ ...store, versions: 600, historyEntries: 1_200 })!
    expect(unmerged).toEqual({ shape, measured })
    expect(measured).toEqual({ bytesPerKey: 100, bytesPerWrite: 100, growth: 1.25 })
    expect(forecastWindow(500, shape, measured).diskBytes).toBe(150_000)
    expect(forecastWindow(5_000, shape, measured).diskBytes).toBe((20_000 + 10 * 100_000) * 1.25)
    expect(forecastWindow(5_000, shape, measured, true).diskBytes).toBe(10_000 * 100)
  })

  it('cannot be made if nothing was superseded', () => {
    const store = {
      keys: 5,
      historyEntries: 0,
      mergedWrites: 5,
      versions: 1,
      fileBytes: 4_096,
      freeBytes: 0,
    }
    expect(measureStore(store)).toBeUndefined()
  })
})
