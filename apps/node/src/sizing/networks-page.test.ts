// Checks that docs/networks.md has the sizes of mainnet's windows that the code computes.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { forecastUnmeasured } from './forecast.js'
import { ASSUMED_WRITES_PER_VERSION } from './measured.js'
import { forecastRow } from './sizing-rows.js'

const VERSIONS_PER_DAY = 127 * 86_400
const MAINNET = { keys: 1e9, writesPerVersion: ASSUMED_WRITES_PER_VERSION }

const page = readFileSync(new URL('../../../../docs/networks.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

it.each([
  ['7d', 7 * VERSIONS_PER_DAY, false],
  ['30d', 30 * VERSIONS_PER_DAY, false],
  ['0', 8e9, true],
])('the row of --since %s is as the code computes it', (since, versions, isWhole) => {
  const sized = { versions, ...forecastUnmeasured(versions, MAINNET, isWhole) }
  const [count, disk, memory, time] = forecastRow(sized)
  const row = rows.find(([, command]) => command === `\`--since ${since}\``)
  expect(row?.slice(2)).toEqual([count, disk, memory, time])
})
