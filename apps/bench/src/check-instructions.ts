// Counts the instructions of look-ups and writes, and compares them with the recorded counts in `instructions.json`. So
// a change of cost shows even on a machine so busy that clocks hide it. `--write` records the counts again.
// `--requests` counts a GET and a POST instead, which are not recorded. A `TEST_SCALE` below 1 counts one operation, which
// `TEST_SEED` chooses: each takes a core for a minute. Last line `N passed, M failed`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sampleInShortRun } from '@ledger-state/testing/sample-cases'
import { writeServedStore } from './http/served-store.ts'
import { hasValgrind, instructionsOf } from './instructions/count-instructions.ts'
import { isRequest, OPERATIONS, type OperationName } from './instructions/operations.ts'
import { differenceOf, readRecordedCounts, writeRecordedCounts } from './instructions/recorded-counts.ts'

const root = mkdtempSync(join(tmpdir(), 'instructions-'))

function folder(name: string): string {
  const path = join(root, name)
  mkdirSync(path, { recursive: true })
  return path
}

async function countAll(ofRequests: boolean): Promise<Partial<Record<OperationName, number>>> {
  const counted: Partial<Record<OperationName, number>> = {}
  if (ofRequests) await writeServedStore(folder('served'))
  const operations = OPERATIONS.filter(({ name }) => isRequest(name) === ofRequests)
  for (const { name: operation, counts } of sampleInShortRun(operations, 1)) {
    const storeFolder = (count: number) => folder(ofRequests ? 'served' : `${operation} ${count}`)
    const count = await instructionsOf({ operation, counts, cacheFolder: folder('compiled'), storeFolder })
    counted[operation] = Math.round(count)
    process.stdout.write(`${operation}: ${Math.round(count)} instructions\n`)
  }
  return counted
}

function compare(counted: Partial<Record<OperationName, number>>): string[] {
  const { node, counts } = readRecordedCounts()
  if (node !== process.version) return [`instructions.json is of Node.js ${node}, this is ${process.version}`]
  return Object.entries(counted).flatMap(([operation, count]) => {
    const name = operation as OperationName
    const difference = differenceOf(count, counts[name])
    return difference === undefined ? [] : [`${operation}: ${difference}`]
  })
}

try {
  if (!hasValgrind()) process.stdout.write('not checked: there is no valgrind\n')
  else if (process.argv.includes('--requests')) await countAll(true)
  else {
    const counted = await countAll(false)
    if (process.argv.includes('--write')) writeRecordedCounts({ node: process.version, counts: counted })
    const differences = compare(counted)
    for (const difference of differences) process.stdout.write(`${difference}\n`)
    if (differences.length > 0) {
      process.stdout.write('If that is meant, record it: pnpm check-instructions --write\n')
      process.exitCode = 1
    }
    process.stdout.write(`${Object.keys(counted).length - differences.length} passed, ${differences.length} failed\n`)
  }
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 10 })
}
