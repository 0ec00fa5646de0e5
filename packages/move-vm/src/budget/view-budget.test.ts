import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DEFAULT_BUDGET } from './view-budget.js'

const VIEWS = readFileSync(new URL('../../../../docs/views.md', import.meta.url), 'utf8')

function withCommas(count: number): string {
  return count.toLocaleString('en-US')
}

function mebibytes(bytes: number): string {
  return `${bytes / 1_048_576} MiB`
}

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
