import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openManifest, saveManifest } from './manifest.js'
import { rangeFileName } from './range-file-name.js'

const EXPECTED = { chain_id: 1, tables: ['writes', 'blocks'], is_slice: false } as const
const STATE = `writes/${rangeFileName({ first: '7', last: '7', isState: true }, 0)}.parquet`
const RANGE = `blocks/${rangeFileName({ first: '8', last: '99' }, 1)}.parquet`
/** Files of others: in folders of their own, beside those of the export, and with names that only resemble its own. */
const FOREIGN = [
  'prices/2025.parquet',
  `derived/${STATE.split('/')[1]}`,
  'writes/daily.parquet',
  'writes/2025-2026.parquet',
  `writes/my-${STATE.split('/')[1]}`,
  `${RANGE}.zst`,
  'blocks/x.parquet.unfinished',
  '8.parquet',
]

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifest-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function put(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), 'rows')
  }
}

const files = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()

describe('openManifest', () => {
  it('is not taken for missing while it cannot be read, since its files would look like those of others', async () => {
    put(STATE)
    // The system cannot tell whether there is a file at the end of a circle.
    symlinkSync('manifest.json', join(folder, 'manifest.json'))
    await expect(openManifest(folder, EXPECTED)).rejects.toMatchObject({ code: 'ELOOP', syscall: 'stat' })
    expect(files()).toContain(STATE)
  })

  it('leaves the files of others in the folder, at the first run and later', async () => {
    put(...FOREIGN)
    for (let run = 0; run < 2; run++) {
      await openManifest(folder, EXPECTED)
      expect(files()).toEqual(['manifest.json', ...FOREIGN].toSorted())
    }
  })

  it('removes files and drafts of ranges that the manifest does not name', async () => {
    const manifest = await openManifest(folder, EXPECTED)
    const file = { path: STATE, rows: 1, bytes: 4, sha256: '' }
    const range = { first: '7', last: '7', isState: true, branch: 0, files: { writes: file } }
    await saveManifest(folder, { ...manifest, ranges: [range] })
    put(STATE, RANGE, `${RANGE}.unfinished`, ...FOREIGN)
    await openManifest(folder, EXPECTED)
    expect(files()).toEqual(['manifest.json', STATE, ...FOREIGN].toSorted())
  })

  it('removes the files of a run that was killed before its first range, which another export can follow', async () => {
    await openManifest(folder, EXPECTED)
    put(STATE, `${RANGE}.unfinished`)
    expect(await openManifest(folder, { ...EXPECTED, tables: ['events'] })).toMatchObject({ tables: ['events'] })
    expect(files()).toEqual(['manifest.json'])
  })

  it('refuses files of an export without its manifest, and another manifest', async () => {
    put(RANGE)
    await expect(openManifest(folder, EXPECTED)).rejects.toThrow(`such as ${RANGE}, but no manifest.json`)
    expect(files()).toEqual([RANGE])
    const format = 'ledger-state-parquet-1'
    const others = [
      { format: 'other', tables: [], ranges: [] },
      { format },
      { format, tables: [], ranges: [null] },
      { format, tables: [], ranges: [{ first: '0', last: '0', branch: 0 }] },
      { format, tables: [], ranges: [{ first: 'a', last: 'b', branch: 0, files: {} }] },
      { format, tables: [], ranges: [{ first: '0', last: '0', branch: 0, files: { writes: null } }] },
      null,
    ]
    for (const text of ['{bad', ...others.map((other) => JSON.stringify(other))]) {
      writeFileSync(join(folder, 'manifest.json'), text)
      await expect(openManifest(folder, EXPECTED)).rejects.toMatchObject({
        code: 'export_failed',
        message: expect.stringContaining('has another export'),
      })
    }
    expect(files()).toEqual([RANGE, 'manifest.json'])
  })
})
