import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatCount, formatCounted, formatDuration } from './amounts.js'

it.each([0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 2 ** 53 - 1, 2n ** 64n, 10n ** 18n, 123n])(
  'formatCount formats %s as toLocaleString does',
  (count) => {
    expect(formatCount(count)).toBe(count.toLocaleString('en-US'))
  },
)

it.each([
  [0.25, '0.3 s'],
  [59, '59 s'],
  [60, '1 min 0 s'],
  [47 * 3_600 + 59 * 60, '47 h 59 min'],
  [48 * 3_600, '2 d 0 h'],
  [60_244_386, '697 d 6 h'],
])('formatDuration formats %d seconds as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})

describe('formatCounted', () => {
  it('has one thing in the singular, and none or many in the plural', () => {
    expect(formatCounted(1, 'version')).toBe('1 version')
    expect(formatCounted(1n, 'entry', 'entries')).toBe('1 entry')
    expect(formatCounted(0, 'entry', 'entries')).toBe('0 entries')
    expect(formatCounted(1_001n, 'version')).toBe('1,001 versions')
  })

  it('counts all things that the program names', () => {
    const SOURCES = new URL('../', import.meta.url)
    const plurals = globSync('**/*.ts', { cwd: SOURCES }).flatMap((name) => {
      const text = readFileSync(new URL(name, SOURCES), 'utf8')
      return [...text.matchAll(/\$\{formatCount\(.*?\)\} (?:[a-z]+ )?[a-z]+s\b(?!\/)/g)].map(
        ([found]) => `${name}: ${found}`,
      )
    })
    expect(plurals).toEqual([])
  })
})
