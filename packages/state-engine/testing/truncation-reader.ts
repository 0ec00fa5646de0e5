// Holds views in a separate process while a writer truncates. Every version writes one text to all keys, which no
// other version of any branch writes, so a view that mixes branches, or changes, is found. Reports when it has seen
// enough.
import { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import { branchOf, type EngineView } from '@ledger-state/engine'
import { createRandom } from '@ledger-state/testing/random'
import { openStateEngineReader } from '../src/index.js'

const ENOUGH_TRUNCATED = 30
const ENOUGH_KEPT = 300
const MOST_VIEWS = 60

const [path, seed, keyCount] = process.argv.slice(2) as [string, string, string]
const keys = Array.from({ length: Number(keyCount) }, (_, at) => Buffer.from(`key ${at}`))
const random = createRandom(Number(seed))
const reader = openStateEngineReader({ path })
const problems: string[] = []
let told = 0
reader.onCommit(() => {
  told++
})
let views: { readonly view: EngineView; readonly text: string }[] = []
let truncated = 0
let kept = 0
let running = true
let isTold = false
process.on('message', () => {
  running = false
})
process.send!('ready')

/** The text that all keys have in a view. */
function textOf(view: EngineView): string {
  const texts = new Set(view.getMany(keys).map((value) => (value ? Buffer.from(value).toString() : 'nothing')))
  const scanned = new Set([...view.scan(Buffer.from('key '))].map(({ value }) => Buffer.from(value).toString()))
  const all = [...new Set([...texts, ...scanned])]
  if (all.length !== 1) problems.push(`version ${view.version} has ${all.join(' and ')}`)
  return all[0]!
}

/** Result of the work; undefined if the version of the view was cut off or pruned. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (isLedgerStateError(error, 'version_truncated')) truncated++
    else if (!isLedgerStateError(error, 'version_pruned', 'version_not_found')) problems.push(String(error))
    return undefined
  }
}

let before = reader.ledger!
while (running && problems.length === 0) {
  const ledger = reader.ledger!
  if (ledger.latestVersion < before.latestVersion && branchOf(ledger) === branchOf(before)) problems.push('went back')
  before = ledger
  const span = Number(ledger.latestVersion - ledger.oldestVersion)
  for (const back of [0, random.below(20), random.below(span + 1)]) {
    const version = ledger.latestVersion - BigInt(Math.min(back, span))
    const view = attempt(() => reader.at(version))
    const text = view && attempt(() => textOf(view))
    if (text !== undefined) views.push({ view: view!, text })
  }
  views = views.filter(({ view, text }) => {
    const found = attempt(() => textOf(view))
    if (found !== undefined && found !== text) problems.push(`version ${view.version} had ${text}, then ${found}`)
    if (found !== undefined) kept++
    return found !== undefined
  })
  while (views.length > MOST_VIEWS) views.splice(random.below(views.length), 1)
  if (!isTold && truncated >= ENOUGH_TRUNCATED && kept >= ENOUGH_KEPT && told > 0) {
    isTold = true
    process.send!('enough')
  }
  await new Promise((resolve) => setImmediate(resolve))
}
await reader.close()
process.send!({ truncated, kept, told, problems })
process.disconnect()
