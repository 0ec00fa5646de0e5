import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { limitsOf } from './admission/limits.js'
import { DEFAULT_LIMITS } from './limits.js'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1_024, MiB: 1_048_576, s: 1_000 }

/** Parses quantities such as `8 MiB`, `30 s` (in milliseconds) and `5,000`. */
function parseQuantity(text: string): number {
  const [, digits, unit] = /^([\d,]+) ?(KiB|MiB|s|)$/.exec(text) ?? []
  return Number(digits?.replaceAll(',', '')) * UNITS[unit!]!
}

describe('the default limits', () => {
  it('match the table in the README, each of them', () => {
    const rows = [...README.matchAll(/^\| `(\w+)`(?: \(of the server\))? +\| ([^|]+?) +\|/gm)]
    const told = rows.filter(([, name]) => name! in DEFAULT_LIMITS || /^max|Ms$|Bytes$/.test(name!))
    expect(Object.fromEntries(told.map(([, name, quantity]) => [name, parseQuantity(quantity!)]))).toEqual(
      DEFAULT_LIMITS,
    )
  })

  it('hold if an option is not given, or undefined', () => {
    expect(limitsOf({})).toEqual(DEFAULT_LIMITS)
    expect(limitsOf({ maxUploads: 3, maxHeld: undefined })).toEqual({ ...DEFAULT_LIMITS, maxUploads: 3 })
  })
})
