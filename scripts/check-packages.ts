// Packs each public package as a release does, serves the tarballs from a registry on loopback, and tries them from
// there: their files, the examples of READMEs and of doc comments, the programs of `examples/`, and `npx ledger-state`.
// Arguments choose parts: `pnpm check-packages tarballs readmes bundles docs examples program`. With a `TEST_SCALE` below 1,
// as in `.ci/run`, `TEST_SEED` chooses half of the parts, half of the READMEs and a third of the programs.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sampleInShortRun } from '@ledger-state/testing/sample-cases'
import { startPostgres } from '../packages/postgres-engine/testing/postgres-server.ts'
import { checkBundles } from './packages/check-bundles.ts'
import { oldestNode } from './packages/check-consumer.ts'
import { checkDocExamples, checkExample } from './packages/check-examples.ts'
import { checkProgram } from './packages/check-program.ts'
import { checkReadme } from './packages/check-readmes.ts'
import { inspectTarball } from './packages/inspect-tarball.ts'
import { listExamples } from './packages/list-examples.ts'
import { startLocalRegistry } from './packages/local-registry.ts'
import { packPackages } from './packages/pack-packages.ts'
import { releasePlan } from './packages/release-plan.ts'
import { Tally } from './packages/tally.ts'

const tally = new Tally()
const work = mkdtempSync(join(tmpdir(), 'packages-'))
const postgres = await startPostgres()
// Some examples need a database.
process.env.POSTGRES_URL = postgres.url()
try {
  const packed = await packPackages(work)
  const registry = await startLocalRegistry(packed)
  const program = packed.find(({ manifest }) => manifest.name === 'ledger-state')!
  const parts: Record<string, () => Promise<void>> = {
    async tarballs() {
      for (const one of packed) await inspectTarball(one, join(work, 'unpacked'), tally)
      console.log(releasePlan(packed))
    },
    async readmes() {
      if (!oldestNode) console.log('nothing is tried on Node.js 20: OLDEST_NODE names none')
      await eachOf(aShare(2, packed), (one) => checkReadme(one, registry, work, tally))
    },
    async bundles() {
      const engine = packed.find(({ folder }) => folder === 'packages/state-engine')!
      await checkBundles(engine, registry, work, tally)
    },
    docs: () => checkDocExamples(packed, registry, work, tally),
    examples: () => eachOf(aShare(3, listExamples()), (name) => checkExample(name, registry, work, tally)),
    program: () => checkProgram(program, registry, work, tally),
  }
  const named = process.argv.slice(2)
  const chosen = named.length > 0 ? named : aShare(2, Object.keys(parts))
  await eachOf(chosen, async (name) => {
    const check = parts[name]
    if (!check) throw new Error(`no part ${name}: there are ${Object.keys(parts).join(', ')}`)
    const before = performance.now()
    await check()
    console.log(`${name}: ${((performance.now() - before) / 1000).toFixed(0)} s`)
  })
  registry.close()
} finally {
  await postgres.close()
  rmSync(work, { recursive: true, maxRetries: 3 })
}
tally.finish()

/** One of `among` items if `TEST_SCALE` is below 1; otherwise all. */
function aShare<Item>(among: number, items: readonly Item[]): readonly Item[] {
  return sampleInShortRun(items, Math.ceil(items.length / among))
}

/** Runs work on items, two at a time: npm mostly waits for the network and for the disk. */
async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all([worker(), worker()])
}
