import { writeFileSync } from 'node:fs'
import { parseAddress } from '@ledger-state/core'
import type { StateReader } from '@ledger-state/engine'
import { createLedger, viewHistory } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { drawChart, type Point } from './chart.ts'
import { demonstrationStore, OWNER } from './demonstration.ts'

/** Prints and draws the result of a view that returns one number, each time that it changed. */
function writePosition(state: StateReader, functionName: string, args: readonly string[]): void {
  const [address, module, name] = functionName.split('::')
  if (!address || !module || !name) throw new Error(`${functionName} is not a function such as 0x1::coin::balance`)
  const history = viewHistory(
    createLedger(state).at(),
    { address: parseAddress(address), module, function: name, typeArguments: [], arguments: { json: args } },
    { order: 'asc' },
  )
  const points: Point[] = []
  console.log('version,time,worth')
  for (const { version, timestampUsec, value, error } of history) {
    const time = timestampUsec === undefined ? '' : new Date(Number(timestampUsec / 1_000n)).toISOString()
    const worth = value && BigInt(JSON.parse(value.json[0]!) as string)
    console.log(`${version},${time},${worth ?? error?.fields.vmStatus}`)
    if (timestampUsec !== undefined && worth !== undefined) points.push({ timestampUsec, worth })
  }
  writeFileSync('position.svg', drawChart(points))
}

const [path, functionName, ...args] = process.argv.slice(2)
if (path === undefined) writePosition(await demonstrationStore(), '0xb00::pool::worth', [OWNER])
else {
  if (functionName === undefined) throw new Error('expected STORE FUNCTION [ARGUMENT…]')
  const reader = openStateEngineReader({ path })
  writePosition(reader, functionName, args)
  await reader.close()
}
