import { expect, it } from 'vitest'
import type { SegmentRow } from '../records/segment-rows.js'
import { filesToMerge, hasRoom, type LevelMerge, mergesPerByte } from './merge-level.js'

function rowsOf(files: readonly (Partial<SegmentRow> & Pick<SegmentRow, 'level'>)[]): SegmentRow[] {
  return files.map((file, at) => ({
    firstVersion: BigInt(10 * at),
    lastVersion: BigInt(10 * at + 9),
    until: BigInt(10 * at + 9),
    file: at,
    isBase: false,
    fileBytes: 1_000,
    writes: 100,
    keys: 50,
    payloadBytes: 500,
    sha256: new Uint8Array(32),
    ...file,
  }))
}

function filesOf(rows: readonly SegmentRow[], oldestVersion: bigint | undefined) {
  const wanted = filesToMerge(rows, oldestVersion)
  return wanted && { ...wanted, inputs: wanted.inputs.map(({ file }) => file) }
}

it('eight files of a level become one of the next', () => {
  const seven = Array.from({ length: 7 }, () => ({ level: 0 }))
  expect(filesOf(rowsOf(seven), 0n)).toBe(undefined)
  const files = [{ level: 1 }, ...seven, { level: 0 }]
  expect(filesOf(rowsOf(files), 0n)).toEqual({ inputs: [1, 2, 3, 4, 5, 6, 7, 8], level: 1, floor: undefined })
  const ones = Array.from({ length: 8 }, () => ({ level: 1 }))
  expect(filesOf(rowsOf([...ones, { level: 0 }]), 0n)).toMatchObject({ inputs: [0, 1, 2, 3, 4, 5, 6, 7], level: 2 })
})

it('the files of one segment count once, and are merged together', () => {
  const halves = Array.from({ length: 7 }, (_, at) => [
    { level: 1, firstVersion: BigInt(10 * at), until: BigInt(10 * at + 9) },
    { level: 1, firstVersion: BigInt(10 * at), until: BigInt(10 * at + 9) },
  ]).flat()
  expect(filesOf(rowsOf(halves), 0n)).toBe(undefined)
  const eighth = { level: 1, firstVersion: 70n, until: 79n }
  expect(filesOf(rowsOf([...halves, eighth]), 0n)).toMatchObject({
    inputs: Array.from({ length: 15 }, (_, at) => at),
    level: 2,
  })
})

it('a merge needs room for its output in addition to its inputs', () => {
  const inputs = rowsOf([
    { level: 0, fileBytes: 2 ** 30 },
    { level: 0, fileBytes: 2 ** 30 },
  ])
  expect(hasRoom([{ inputs }], 2 ** 31)).toBe(false)
  expect(hasRoom([{ inputs }], 2 ** 31 + 2 ** 24)).toBe(true)
  expect(hasRoom([{ inputs }, { inputs }], 2 ** 31 + 2 ** 24)).toBe(false)
  expect(hasRoom([{ inputs }, { inputs }], 2 ** 32 + 2 ** 24)).toBe(true)
})

/** A merge of some rows that is under way. */
function running(inputs: readonly SegmentRow[]): LevelMerge {
  return { inputs, level: inputs[0]!.level + 1, floor: undefined, file: 99, codec: 'none' }
}

it('a level is merged while a higher one is, but a level is not merged twice at a time', () => {
  const rows = rowsOf([
    ...Array.from({ length: 8 }, () => ({ level: 1 })),
    ...Array.from({ length: 16 }, () => ({ level: 0 })),
  ])
  const ones = running(rows.slice(0, 8))
  const zeros = running(rows.slice(8, 16))
  expect(filesToMerge(rows, 0n)?.inputs).toEqual(rows.slice(8))
  expect(filesToMerge(rows, 0n, [ones])?.inputs).toEqual(rows.slice(8))
  expect(filesToMerge(rows, 0n, [zeros])?.inputs).toEqual(rows.slice(0, 8))
  expect(filesToMerge(rows, 0n, [ones, zeros])).toBe(undefined)
})

it('files below the window wait for the merges that they are part of, and no other merge takes them', () => {
  const rows = rowsOf(Array.from({ length: 20 }, () => ({ level: 0 })))
  const first = running(rows.slice(0, 8))
  expect(filesToMerge(rows, 199n, [first])).toBe(undefined)
  expect(filesToMerge(rows, 199n)).toMatchObject({ inputs: rows, floor: 199n })
  expect(filesToMerge(rows, 89n, [])).toMatchObject({ inputs: rows.slice(0, 9), floor: 89n })
  const below = { ...running(rows.slice(0, 9)), level: 255, floor: 89n }
  expect(filesToMerge(rows, 89n, [below])?.inputs).toEqual(rows.slice(9))
})

it('commits wait for merges if a level has twelve segments, and for more with each further one', () => {
  const zeros = (count: number) => Array.from({ length: count }, () => ({ level: 0 }))
  expect(mergesPerByte([])).toBe(0)
  expect(mergesPerByte(rowsOf(zeros(12)))).toBe(0)
  expect(mergesPerByte(rowsOf(zeros(15)))).toBe(1)
  expect(mergesPerByte(rowsOf(zeros(21)))).toBe(3)
  expect(mergesPerByte(rowsOf([...Array.from({ length: 18 }, () => ({ level: 2 })), ...zeros(12)]))).toBe(2)
  expect(mergesPerByte(rowsOf(zeros(40).map((row) => ({ ...row, isBase: true }))))).toBe(0)
})

it('versions below the window become a base once they are half as large as the base', () => {
  const rows = rowsOf([{ level: 255, isBase: true }, { level: 0, writes: 49 }, { level: 0 }])
  expect(filesOf(rows, 19n)).toBe(undefined)
  expect(filesOf(rows, 28n)).toBe(undefined)
  expect(filesOf(rows, 29n)).toEqual({ inputs: [0, 1, 2], level: 255, floor: 29n })
  const enough = rowsOf([{ level: 255, isBase: true }, { level: 0, writes: 50 }, { level: 0 }])
  expect(filesOf(enough, 19n)).toEqual({ inputs: [0, 1], level: 255, floor: 19n })
  expect(filesOf(rowsOf([{ level: 0 }, { level: 0 }]), 9n)).toEqual({ inputs: [0], level: 255, floor: 9n })
  expect(filesOf(rowsOf([{ level: 255, isBase: true }, { level: 0 }]), 9n)).toBe(undefined)
})

it('files of an imported state are merged with each other only', () => {
  const imported = Array.from({ length: 7 }, () => ({
    level: 0,
    isBase: true,
    firstVersion: 3n,
    until: 69n,
    lastVersion: 69n,
  }))
  const later = Array.from({ length: 7 }, () => ({ level: 0 }))
  expect(filesOf(rowsOf([...imported, ...later]), 0n)).toBe(undefined)
  expect(filesOf(rowsOf([...imported, imported[0]!, ...later]), 0n)).toMatchObject({ inputs: [0, 1, 2, 3, 4, 5, 6, 7] })
  // Long ones stay as they are: to merge them would save nothing.
  const long = Array.from({ length: 9 }, () => ({ ...imported[0]!, fileBytes: 2 ** 30 }))
  expect(filesOf(rowsOf(long), 0n)).toBe(undefined)
  expect(filesOf(rowsOf([...imported, ...later, { level: 0 }]), 0n)).toMatchObject({
    inputs: [7, 8, 9, 10, 11, 12, 13, 14],
  })
})

it('files of an import under way are merged once there are 32', () => {
  const imported = { level: 0, isBase: true, firstVersion: 3n, until: 69n, lastVersion: 69n }
  const files = Array.from({ length: 31 }, () => imported)
  expect(filesOf(rowsOf(files), undefined)).toBe(undefined)
  expect(filesOf(rowsOf([...files, imported]), undefined)?.inputs).toHaveLength(32)
  expect(filesOf(rowsOf(files), 69n)?.inputs).toHaveLength(31)
})

it('files that span too many versions stay apart', () => {
  const files = Array.from({ length: 8 }, () => ({ level: 0 }))
  const rows = rowsOf(files).map((row, at) => (at === 0 ? { ...row, firstVersion: 0n } : { ...row, until: 2n ** 60n }))
  expect(filesOf(rows, 0n)).toBe(undefined)
})
