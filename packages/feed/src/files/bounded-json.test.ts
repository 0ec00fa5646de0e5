import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBoundedJson, tryBoundedJson } from './bounded-json.js'

const WIDE = { depth: 1_000, values: 1_000_000 }

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, member) => sum + countOf(member), 1)
}

describe('parseBoundedJson', () => {
  it('reads the same texts as JSON.parse within the limits, and refuses one more level or value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1), (value, spaces) => {
        const text = JSON.stringify(value, undefined, spaces)
        const expected: unknown = JSON.parse(text)
        const depth = depthOf(expected)
        expect(parseBoundedJson(text, { ...WIDE, depth })).toEqual(expected)
        if (depth > 0) expect(() => parseBoundedJson(text, { ...WIDE, depth: depth - 1 })).toThrow(/levels of arrays/)
        // An empty array counts as two.
        const count = countOf(expected)
        expect(() => parseBoundedJson(text, { ...WIDE, values: count - 1 })).toThrow(/more than \d+ values/)
        expect(parseBoundedJson(text, { ...WIDE, values: 2 * count })).toEqual(expected)
      }),
    )
  })

  it('is not led astray by quotes, backslashes and brackets in strings', () => {
    for (const string of ['"', '\\', '\\"', '\\\\"[[[', '[[[,,,', '"]{', '\\'.repeat(1_001), '"'.repeat(1_001)]) {
      const value = { [string]: [string, string] }
      expect(parseBoundedJson(JSON.stringify(value), { depth: 2, values: 10 })).toEqual(value)
    }
  })

  it('refuses text that is no JSON, as JSON.parse does', () => {
    for (const text of ['', '"', '"\\', '[', ']', '}{', '[1,]', 'x']) {
      expect(() => parseBoundedJson(text, WIDE)).toThrow(SyntaxError)
      expect(tryBoundedJson(text, WIDE)).toBeUndefined()
    }
  })

  it('refuses bombs before they take memory', () => {
    const length = 20_000_000
    const before = process.memoryUsage().rss
    for (const bomb of ['['.repeat(length), `[${'[],'.repeat(length / 3)}`, `[${'0,'.repeat(length / 2)}`]) {
      expect(() => parseBoundedJson(bomb, { depth: 8, values: 10_000 })).toThrow(/more than/)
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000)
  })
})
