// Writes a store while each sync is held until the event loop has turned: `FAULT_HOLD` of disk-faults.c. If the event
// loop waits for a sync, the program never ends. It prints the files synced in each step.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { importState } from '@ledger-state/engine'
import { openStateEngine, type StateEngine } from '../../src/open-state-engine.ts'
import { KNOWN_CHAIN, knownVersion } from '../known-ledger.ts'

/** Turns of the event loop that each sync is held for. */
const TURNS = 5

const [path, hold] = process.argv.slice(2) as [string, string]
const synced = new Set<string>()

/** Name of the file whose sync is held. */
function heldNow(): string | undefined {
  return existsSync(`${hold}.held`) ? readFileSync(`${hold}.held`, 'utf8') : undefined
}

/** Runs a step, and releases a sync each time that the event loop has turned meanwhile. */
async function run(name: string, work: () => Promise<unknown>): Promise<void> {
  synced.clear()
  writeFileSync(hold, '')
  let isDone = false
  const done = work().finally(() => {
    isDone = true
  })
  while (!isDone) {
    await nextTurn()
    const held = heldNow()
    if (held === undefined) continue
    synced.add(held.replace(/[-.]\d+.*$/, ''))
    for (let turn = 0; turn < TURNS; turn++) await nextTurn()
    rmSync(`${hold}.held`, { force: true })
  }
  await done
  rmSync(hold)
  process.stdout.write(`${name}: ${[...synced].toSorted().join(' ')}\n`)
}

async function commit(engine: StateEngine, count: number, { bulk = false } = {}): Promise<void> {
  const next = (engine.ledger?.latestVersion ?? -1n) + 1n
  const versions = Array.from({ length: count }, (_, at) => knownVersion(next + BigInt(at)))
  for (const batch of bulk ? [versions] : versions.map((one) => [one])) await engine.commit(batch, KNOWN_CHAIN)
}

/** A commit, and a read of it, while the first sync of the catalog is held. */
async function commitMeanwhile(engine: StateEngine, work: Promise<unknown>): Promise<void> {
  for (let held = heldNow(); held !== 'state.mdb'; held = heldNow()) {
    if (held !== undefined) rmSync(`${hold}.held`)
    await nextTurn()
  }
  await commit(engine, 3)
  const { latestVersion } = engine.ledger!
  const isRead = engine.at().scan(new Uint8Array(0))[Symbol.iterator]().next().done === false
  process.stdout.write(`${isRead && existsSync(`${hold}.held`) ? 'committed and read' : 'waited'}: ${latestVersion}\n`)
  rmSync(hold)
  await work
}

const engine = openStateEngine({ path, memtableBytes: 400_000 })
await run('first commit', async () => {
  await commit(engine, 1)
  await engine.merge()
})
await run('commits', () => commit(engine, 5))
await run('merge', () => engine.merge())
await run('bulk', () => commit(engine, 300, { bulk: true }))
await run('levels', async () => {
  for (let files = 0; files < 9; files++) {
    await commit(engine, 2)
    await engine.merge()
  }
})
await run('prune', () => engine.prune(30n))
await run('reclaim', () => engine.reclaim())
await run('truncation', () => engine.truncateTo(engine.ledger!.latestVersion - 10n))
await run('flush', () => engine.flush())
await run('close', () => engine.close())

rmSync(path, { recursive: true })
const ordered = openStateEngine({ path, durability: 'ordered', memtableBytes: 2_500_000 })
await commit(ordered, 5)
writeFileSync(hold, '')
await commitMeanwhile(ordered, ordered.prune(1n))
await ordered.close()

rmSync(path, { recursive: true })
const imported = openStateEngine({ path, memtableBytes: 40_000 })
const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
const entries = Array.from({ length: 300 }, (_, at) => ({
  key: Buffer.from(`imported ${at}`),
  version: 0n,
  value: Buffer.alloc(20, at),
}))
await run('import', () => importState(imported, { chainId: KNOWN_CHAIN.chainId, version: 0n, block }, entries))
await imported.close()
process.stdout.write('done\n')
