import { readFileSync } from 'node:fs'
import { DEFAULT_LIMITS } from '@ledger-state/http/limits'
import { expect, it } from 'vitest'
import { MOST_CONNECTIONS } from '../processes/admin-server.js'
import { MOST_PENDING, PATIENCE_MS } from '../processes/dispatcher.js'
import type { Option } from './option.js'
import { settings } from './settings.js'

const SECURITY = readFileSync(new URL('../../../../SECURITY.md', import.meta.url), 'utf8')

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1_024, MiB: 1_048_576, s: 1 }

/** Parses quantities such as `8 MiB`, `30 s` and `5,000`. */
function parseQuantity(text: string): number {
  const [, digits, unit] = /^([\d,]+) ?(KiB|MiB|s|)$/.exec(text) ?? []
  return Number(digits?.replaceAll(',', '')) * UNITS[unit!]!
}

it('the table of limits in SECURITY.md has the default of every setting that is a limit', () => {
  // A budget of views has several units.
  const rows = [...SECURITY.matchAll(/^\| [^|]+ \| ([^|]+?) +\| `((?!view-)[a-z-]+)`/gm)]
  const told = Object.fromEntries(rows.map(([, quantity, name]) => [name, parseQuantity(quantity!)]))
  const limits = Object.values<Option<unknown>>(settings).filter(({ name }) =>
    /^(max-(?!lag)|body-limit|forward-(body-limit|answer-limit|timeout)|request-timeout|idle-timeout)/.test(name),
  )
  expect(told).toEqual(Object.fromEntries(limits.map(({ name, fallback }) => [name, Number(fallback)])))
})

it('the table of limits in SECURITY.md has the limits of requests that are held for a version', () => {
  const [, held, seconds] = /^\| requests held for a version, each reader +\| ([\d,]+), (\d+) s/m.exec(SECURITY)!
  expect(parseQuantity(held!)).toBe(DEFAULT_LIMITS.maxHeld)
  expect(1_000 * Number(seconds)).toBe(DEFAULT_LIMITS.maxHoldMs)
})

it('the table of limits in SECURITY.md has the limits of the supervisor', () => {
  const [, pending, seconds] = /^\| connections that wait for a reader +\| ([\d,]+), (\d+) s/m.exec(SECURITY)!
  expect([parseQuantity(pending!), 1_000 * Number(seconds)]).toEqual([MOST_PENDING, PATIENCE_MS])
  const [, admin] = /^\| admin connections +\| ([\d,]+)/m.exec(SECURITY)!
  expect(parseQuantity(admin!)).toBe(MOST_CONNECTIONS)
})
