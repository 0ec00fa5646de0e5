// Measures the bytes of a store, and the cost of writes and of look-ups of the past: docs/lab/measurements.md,
// "Versions like those of mainnet". Arguments: the setting of the keys (`spreading` or `returning`), MiB of the
// memtable, the number of versions, and the option `compress`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VersionWrites } from '@ledger-state/core'
import { openStateEngine } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import { chainLikeVersions } from '../workload/chain/chain-like-versions.ts'
import { FIRST_WRITES, type KeyReturns } from '../workload/chain/key-population.ts'

const VERSIONS_OF_COMMIT = 1_000
const LOOK_UPS = 200_000
const ROUNDS = 3

const [returns = 'spreading', tableMiB = '512', versions = '126000', compress = 'always'] = process.argv.slice(2)
if (!isKeyReturns(returns)) throw new Error(`unknown setting of the keys: ${returns}`)
const folder = mkdtempSync(join(tmpdir(), 'ledger-state-sizes-'))
try {
  await measure(folder, returns, Number(tableMiB), Number(versions))
} finally {
  rmSync(folder, { recursive: true })
}

function isKeyReturns(text: string): text is KeyReturns {
  return Object.hasOwn(FIRST_WRITES, text)
}

async function measure(path: string, returns: KeyReturns, tableMiB: number, versions: number): Promise<void> {
  const commits = makeCommits(returns, versions)
  const writes = commits.flat().reduce((sum, version) => sum + version.writes.length, 0)
  const engine = openStateEngine({
    path,
    durability: 'none',
    compress: compress as 'auto',
    memtableBytes: tableMiB * 2 ** 20,
  })
  const cpu = await cpuOf(async () => {
    for (const commit of commits) await engine.commit(commit, { chainId: 1 })
    await engine.merge()
  })
  const { levels, keys, mergedWrites } = engine.stats
  console.log(
    `${returns}, table of ${tableMiB} MiB: ${writes} writes, ${keys} keys, ${mergedWrites - keys} superseded values`,
  )
  console.log(`CPU of a write, with its merge: ${(cpu / writes).toFixed(2)} µs`)
  const asked = drawWrites(commits, LOOK_UPS)
  for (let round = 0; round < ROUNDS; round++) {
    const spent = await cpuOf(() => {
      for (const { key, version } of asked) if (!engine.at(version).peek(key)) throw new Error('a write is missing')
    })
    console.log(`CPU of a look-up of a past value: ${(spent / LOOK_UPS).toFixed(2)} µs`)
  }
  await engine.close()
  const bytes = levels.reduce((sum, level) => sum + level.fileBytes, 0)
  console.log(`${(bytes / writes).toFixed(2)} B a write of all`)
  for (const { level, files, ...of } of levels) {
    const perWrite = (part: number) => (part / of.writes).toFixed(2)
    const parts = `${perWrite(of.blockBytes)} blocks, ${perWrite(of.indexBytes)} index, ${perWrite(of.filterBytes)} filter`
    console.log(
      `level ${level}: ${files} files, ${of.writes} writes of ${perWrite(of.payloadBytes)} B, ${perWrite(of.fileBytes)} B each: ${parts}`,
    )
  }
}

function makeCommits(returns: KeyReturns, versions: number): VersionWrites[][] {
  const commits: VersionWrites[][] = []
  let made = 0
  for (const version of chainLikeVersions(returns)) {
    if (made % VERSIONS_OF_COMMIT === 0) commits.push([])
    commits.at(-1)!.push(version)
    if (++made >= versions) break
  }
  return commits
}

function drawWrites(commits: readonly VersionWrites[][], count: number) {
  const random = createRandom(7)
  const written = commits.flat().filter(({ writes }) => writes.length > 0)
  return Array.from({ length: count }, () => {
    const { version, writes } = written[random.below(written.length)]!
    return { key: writes[random.below(writes.length)]![0], version }
  })
}

/** CPU time of all threads, in microseconds. */
async function cpuOf(work: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
