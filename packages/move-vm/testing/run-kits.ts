import { createVm } from '../src/index.js'
import { answerRequest, findDifference, MemoryLedger, readKit } from './kits.js'

// Usage: npx -y pnpm exec tsx --conditions @ledger-state/source testing/run-kits.ts [KIT…]. Prints the differences, most
// frequent reasons first.

const names = process.argv.slice(2)
const vm = createVm()
for (const name of names.length > 0 ? names : ['views-ops', 'views-programs', 'views-framework', 'views-errors']) {
  const kit = readKit(name)
  const ledgers = new Map<string, MemoryLedger>()
  for (const { area, serve } of kit.sources) ledgers.set(area, await MemoryLedger.load(serve))
  let same = 0
  let skipped = 0
  const start = performance.now()
  const differences: [id: string, why: string][] = []
  for (const request of kit.requests) {
    const answer = answerRequest(vm, ledgers.get(request.area)!, request)
    const why = answer && findDifference(request, answer)
    if (!answer) skipped++
    else if (why === undefined) same++
    else differences.push([request.id, why])
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${name}: ${same} same, ${skipped} not the vm's, ${differences.length} other (${seconds} s)`)
  const reasons = Map.groupBy(differences, ([, why]) => why.replaceAll(/0x[0-9a-f]+|\d+/g, '#').slice(0, 160))
  for (const [reason, ids] of [...reasons].sort((x, y) => y[1].length - x[1].length).slice(0, 25)) {
    console.log(`  ${ids.length} × ${reason}\n      ${ids[0]![0]}: ${ids[0]![1].slice(0, 300)}`)
  }
}
