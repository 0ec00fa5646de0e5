// The longer tests of ingest and export: several stores each, compared whole.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type StandInNode, startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { NodeProcess } from '../../testing/node-process.ts'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 150 && info[9] === 0 && info[106] === 1)

let bed: CommandBed
let node: StandInNode | undefined
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
  await node?.close()
  node = undefined
})

describe('ingest of a backup', () => {
  it('resumes after a state snapshot, and answers as a store from genesis does', async () => {
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: SNAPSHOT, chunk: 15 } })
    expect(bed.ingest(snapshot, 'store')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/a state of \d+ entries/),
    })
    expect(await bed.info('store')).toMatchObject({
      base: 'state',
      base_version: String(SNAPSHOT),
      ledger_version: String(SNAPSHOT),
    })
    expect(bed.ingest(bed.at('backup'), 'store').status).toBe(0)
    expect(bed.ingest(bed.at('backup'), 'whole').status).toBe(0)
    bed.run('export', bed.at('a'), '--data-dir', bed.at('store'), '--from', String(SNAPSHOT))
    bed.run('export', bed.at('b'), '--data-dir', bed.at('whole'), '--from', String(SNAPSHOT))
    // The store from genesis knows which versions wrote the entries of the state; all else is the same.
    const lines = (name: string) => readFileSync(bed.at(name), 'utf8').split('\n')
    const withoutVersions = (line: string) =>
      line.startsWith('{"state"') ? JSON.stringify(JSON.parse(line).state.map(([k, v]: string[]) => [k, v])) : line
    expect(lines('a').map(withoutVersions)).toEqual(lines('b').map(withoutVersions))
    expect(bed.ingest(snapshot, 'whole').stderr).toMatch(/ingested: 0 versions/)
    expect(bed.ingest(bed.at('backup'), 'early', '--to', '20').status).toBe(0)
    expect(bed.ingest(snapshot, 'early')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('needs an empty store'),
    })
  })

  it('refuses another ledger than the one it holds, by its accumulator or by what it wrote', () => {
    writeBackup(chain, bed.at('backup'))
    writeBackup(new SyntheticChain({ blocks: 60, seed: 5 }), bed.at('other'))
    for (const verify of [[], ['--no-verify']]) {
      rmSync(bed.at('store'), { recursive: true, force: true })
      const busy = chain.expected.findIndex(({ writes }, version) => version > 60 && writes.length > 3)
      expect(bed.ingest(bed.at('backup'), 'store', '--to', String(busy), ...verify).status).toBe(0)
      expect(bed.ingest(bed.at('other'), 'store', ...verify)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          verify.length === 0 ? /is not the one that the store holds/ : /differs from the one/,
        ),
      })
    }
  })

  it('says where a full disk stopped it, and resumes when there is space', async () => {
    writeBackup(new SyntheticChain({ blocks: 250 }), bed.at('backup'))
    const prefix = ['bash', '-c', 'ulimit -f 160; exec "$0" "$@"']
    const { status, stderr } = bed.runWith({ prefix }, 'ingest', bed.at('backup'), '--data-dir', bed.at('store'))
    expect(stderr).toMatch(/ledger-state: .*(full|version|record)/)
    expect(status).toBe(1)
    expect(bed.ingest(bed.at('backup'), 'store').status).toBe(0)
    bed.ingest(bed.at('backup'), 'whole')
    expect(await bed.digest('store')).toBe(await bed.digest('whole'))
  })
})

describe('a node', () => {
  it('is followed while the store is served, and left when it is on a fork', async () => {
    node = await startStandInNode(chain)
    node.latest = 40
    writeFileSync(bed.at('genesis.blob'), chain.genesisBlob)
    bed.ingest(bed.at('genesis.blob'), 'store')
    const served = new NodeProcess({ dataDir: bed.at('store'), options: ['--follow', node.url] })
    onTestFinished(() => served.killAll())
    await served.listening()
    await eventually(
      async () => (await served.version()) === 40,
      () => served.output,
    )
    node.latest = 80
    await eventually(
      async () => (await served.version()) === 80,
      () => served.output,
    )
    node.chain = new SyntheticChain({ blocks: 60, seed: 4 })
    node.latest = LAST
    await served.outputMatching(/"code":"ledger_fork".*writer gives up: /)
    expect(await served.version()).toBeGreaterThanOrEqual(80)
    expect(await served.metrics()).toMatch(/process_state\{process="writer",state="given-up"\} 1/)
    expect(await served.stop()).toBe(0)
  }, 60_000)

  it('takes over where a backup ended, and is refused where it is on a fork', async () => {
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'store', '--to', '70')
    node = await startStandInNode(new SyntheticChain({ blocks: 60, seed: 3 }))
    const refused = bed.start('ingest', node.url, '--data-dir', bed.at('store'))
    expect(await refused.ended).toBe(1)
    expect(refused.output).toMatch(/fork/)
    expect((await bed.info('store')).ledger_version).toBe('70')
    node.chain = chain
    node.latest = LAST
    expect(await bed.start('ingest', node.url, '--data-dir', bed.at('store')).ended).toBe(0)
    expect((await bed.info('store')).ledger_version).toBe(String(LAST))
  })
})

describe('export', () => {
  it('writes feeds, packed as their names say, which ingest reads', async () => {
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'whole', '--retain', '100')
    const whole = await bed.digest('whole')
    for (const name of ['feed.ndjson', 'feed.ndjson.gz', 'feed.ndjson.zst']) {
      const { status, stderr } = bed.run('export', bed.at(name), '--data-dir', bed.at('whole'), '--format', 'feed')
      expect([status, stderr]).toEqual([
        0,
        expect.stringMatching(/holds the state at version \d+ \(\d+ entries\) and the \d+ versions after it/),
      ])
      expect(existsSync(bed.at(`${name}.unfinished`))).toBe(false)
      expect(bed.ingest(bed.at(name), `copy of ${name}`).status).toBe(0)
      expect(await bed.digest(`copy of ${name}`)).toBe(whole)
    }
    expect(bed.run('ingest', bed.at('feed.ndjson.gz'), '--dry-run').stderr).toMatch(
      /^read, with nothing proven: a state of/,
    )
  })
})
