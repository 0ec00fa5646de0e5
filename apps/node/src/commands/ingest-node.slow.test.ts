// Ingest of a node, and of a node after a backup: accepted input, where it stops, and how it resumes.
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { type StandInNode, startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { restPage, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { NodeProcess } from '../../testing/node-process.ts'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)

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

describe('a node as a source', () => {
  it('is ingested up to its newest version, then followed, and all of it is durable at the stop', async () => {
    node = await startStandInNode(chain)
    node.latest = 60
    expect(await bed.start('ingest', node.url, '--data-dir', bed.at('store')).ended).toBe(0)
    expect((await bed.info('store')).ledger_version).toBe('60')
    const follower = bed.start('ingest', node.url, '--data-dir', bed.at('store'), '--follow')
    for (const latest of [61, 90, LAST]) {
      node.latest = latest
      await eventually(
        async () => (await bed.info('store')).ledger_version === String(latest),
        () => follower.output,
      )
    }
    expect(await follower.stop()).toBe(0)
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'whole')
    expect(await bed.digest('store')).toBe(await bed.digest('whole'))
  })

  it('is followed through broken answers, with one line printed for each', async () => {
    node = await startStandInNode(chain)
    node.latest = 60
    const follower = bed.start('ingest', node.url, '--data-dir', bed.at('store'), '--follow')
    await eventually(
      async () => (await bed.info('store')).ledger_version === '60',
      () => follower.output,
    )
    const page = Buffer.from(restPage(chain, 60, 50))
    page[page.length >> 1]! ^= 1
    const bcs = (response: ServerResponse) => response.setHeader('content-type', 'application/x-bcs')
    for (let broken = 0; broken < 2; broken++) node.faults.push((_, response) => bcs(response).end(page))
    node.faults.push((_, response) => response.end('<html>maintenance</html>'))
    node.latest = LAST
    await eventually(
      async () => (await bed.info('store')).ledger_version === String(LAST),
      () => follower.output,
    )
    expect(await follower.stop()).toBe(0)
    expect(follower.output.match(/; asking again in .* s; if it lasts, use another node\n/g)?.length).toBe(3)
  })

  it('is left at the end of a block when the ingest is stopped', async () => {
    const long = new SyntheticChain({ blocks: 250 })
    const served = await startStandInNode(long)
    node = served
    const follower = bed.start('ingest', served.url, '--data-dir', bed.at('store'), '--follow')
    await eventually(
      () => served.starts.length >= 3,
      () => `three pages: ${follower.output}`,
    )
    expect(await follower.stop()).toBe(0)
    const version = Number((await bed.info('store')).ledger_version)
    expect(version === Number(long.latestVersion) || long.expected[version + 1]!.block !== undefined).toBe(true)
  })

  it('is reported as an error at once when it answers 404 to everything', async () => {
    node = await startStandInNode(chain)
    const notFound: StandInNode['faults'][number] = (_, response) => {
      response.statusCode = 404
      response.end('not here')
    }
    node.faults.push(notFound)
    const follower = bed.start('ingest', node.url, '--data-dir', bed.at('store'), '--follow')
    expect(await follower.ended).toBe(1)
    expect(follower.output).toMatch(/is not the API of a node: .* found status 404/)
  })

  it('is followed while the store is served, and dropped when it is on a fork', async () => {
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
  })

  it('continues where a backup ended, and is refused when it is on a fork', async () => {
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
