import { expect, it } from 'vitest'
import { parseViewBudget, parseViewFilter } from './view-settings.js'

it('the configuration reads filters and budgets of views', () => {
  expect(parseViewFilter('allow:0x1')).toEqual({ kind: 'allow', names: ['0x1'] })
  expect(parseViewFilter('block:0x1::coin,cafe::m::f')).toEqual({ kind: 'block', names: ['0x1::coin', 'cafe::m::f'] })
  expect(parseViewBudget('instructions=10000000,readBytes=7')).toEqual({ instructions: 10_000_000, readBytes: 7 })
})
