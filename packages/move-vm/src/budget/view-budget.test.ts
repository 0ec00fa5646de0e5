import { readFileSync } from 'node:fs'
import { mebibytes, withCommas } from '@ledger-state/testing/number-words'
import { expect, it } from 'vitest'
import { DEFAULT_BUDGET } from './view-budget.js'

const VIEWS = readFileSync(new URL('../../../../docs/views.md', import.meta.url), 'utf8')

it('docs/views.md has the budget of a run that names none', () => {
  const rows = [...VIEWS.matchAll(/^\| [^|]+ \| ([^|]+?) +\| (`\w+=`(?:, `\w+=`)?) +\|/gm)]
  const { instructions, bytes, reads, readBytes, modules, moduleBytes } = DEFAULT_BUDGET
  expect(Object.fromEntries(rows.map(([, budget, names]) => [names, budget]))).toEqual({
    '`instructions=`': withCommas(instructions),
    '`bytes=`': mebibytes(bytes),
    '`reads=`, `readBytes=`': `${withCommas(reads)}; ${mebibytes(readBytes)}`,
    '`modules=`, `moduleBytes=`': `${withCommas(modules)}; ${mebibytes(moduleBytes)}`,
  })
})
