import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { auditRoots, readAuditRecord } from '@ledger-state/ingest'
import { isOwnKey } from '@ledger-state/records'
import { openStateEngine } from '@ledger-state/state-engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

const ROUNDS = 12

it(`check --all-roots finds the same after ${ROUNDS} kills at random times, while the store gets new versions (TEST_SEED=${testSeed()})`, async () => {
  const random = createRandom(testSeed())
  writeBackup(new SyntheticChain({ blocks: 120 }), bed.at('backup'))
  expect(bed.ingest('backup', 'good')).toMatchObject({ status: 0 })
  const good = openStateEngine({ path: bed.at('good'), durability: 'none' })
  const { latestVersion, chainId } = good.ledger!
  const genesis = [...good.at(0n).scan(new Uint8Array(0))].map(({ key, value }) => [key, value] as const)
  const versions = [
    { version: 0n, block: good.blockAt(0n).block, writes: genesis },
    ...good.versions(1n, latestVersion),
  ]
  await good.close()
  const places = versions.flatMap(({ writes }, at) => (writes.some(([key]) => !isOwnKey(key)) ? [at] : []))
  const place = places[Math.floor(places.length / 3)]!
  const lost = versions[place]!.writes.find(([key]) => !isOwnKey(key))!
  versions[place] = { ...versions[place]!, writes: versions[place]!.writes.filter((write) => write !== lost) }
  const bad = openStateEngine({ path: bed.at('bad'), memtableBytes: 0 })
  const step = Math.ceil(versions.length / ROUNDS)
  let kills = 0
  for (let round = 0; round < ROUNDS; round++) {
    await bad.commit(versions.slice(round * step, (round + 1) * step), { chainId })
    const audit = bed.start('check', '--all-roots', '--proofs-budget', '1000', '--data-dir', 'bad')
    const outcome = audit.outcome()
    // The start of the program takes most of this time; some audits end before it.
    const isKilled = await Promise.race([outcome.then(() => false), sleep(random.below(2_500)).then(() => true)])
    if (!isKilled) continue
    kills++
    audit.child.kill('SIGKILL')
    await outcome
    if (existsSync(bed.at('bad/audit/audit.json'))) expect(readAuditRecord(bed.at('bad/audit'))).toBeDefined()
  }
  expect(kills).toBeGreaterThan(0)
  const target = bad.ledger!.latestVersion
  const whole = await auditRoots(bad, { folder: bed.at('whole'), hashSalt: 'APTOS::', target, threads: 0 })
  expect(whole.findingCount).toBeGreaterThan(0)
  await bad.close()
  // On a busy machine all audits may have been killed before they kept data for proofs.
  for (const budget of [['--proofs-budget', '1000'], []]) {
    expect(bed.run('check', '--all-roots', ...budget, '--data-dir', 'bad').status).toBe(1)
    const record = readAuditRecord(bed.at('bad/audit'))!
    expect(record).toMatchObject({ version: whole.version, root: whole.root, compared: whole.compared })
    expect(record.findings.map(({ candidates, ...finding }) => finding)).toEqual(
      whole.findings.map(({ candidates, ...finding }) => finding),
    )
    const { keysFile, cuts } = record.proofs!
    const files = ['audit.json', 'audit.lock', record.leavesFile, keysFile, ...cuts.map(({ name }) => name)]
    expect(readdirSync(bed.at('bad/audit')).sort()).toEqual(files.sort())
    expect(readFileSync(bed.at('bad/audit/audit.json'), 'utf8').split('\n')).toHaveLength(3)
  }
})
