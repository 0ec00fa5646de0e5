// What becomes of a node whose source answers wrongly: the real program throughout.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import type { NodeProcess } from '../../testing/node-process.ts'
import { RunningProgram } from '../../testing/program.ts'
import { SOURCE_FAULTS, STEADY_START_SECONDS, startSteadyNode } from '../../testing/steady-ledger.ts'

let bed: NodeBed
const running: RunningProgram[] = []
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  for (const program of running.splice(0)) await program.stop('SIGKILL')
  await bed.close()
})

const stateOf = async (node: NodeProcess, name: string) =>
  (await node.readiness()).processes.find((process) => process.name === name)?.state

function heldVersion(path: string): bigint | undefined {
  const engine = openStateEngineReader({ path })
  const version = engine.ledger?.latestVersion
  void engine.close()
  return version
}

function isReady(node: NodeProcess): Promise<boolean> {
  return fetch(`${node.admin}/-/ready`).then(({ ok }) => ok)
}

describe('broken pages of the source', () => {
  const faults = Object.entries(SOURCE_FAULTS)

  it('are asked for again by a node, each with one line that says what to do, and it stays ready', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    bed.source.faults.push(...faults.map(([, fault]) => fault))
    bed.source.latest = 500
    const client = bed.startClient(() => node)
    await reaches(node, 500)
    expect(bed.source.faults).toEqual([])
    expect(await isReady(node)).toBe(true)
    expect(await stateOf(node, 'writer')).toBe('up')
    expect(await node.metrics()).toMatch(/process_restarts_total\{process="writer"\} 0/)
    const lines = node.output.split('\n').filter((line) => /asking again in/.test(line))
    expect(lines.length).toBe(faults.length)
    expect(lines.filter((line) => /if it lasts, use another node/.test(line)).length).toBe(faults.length - 1)
    await answersRightly(client)
  })

  it('are asked for again by ingest --follow, too', async () => {
    bed.source.latest = 100
    const words = ['ingest', bed.source.url, '--follow', '--no-verify', '--data-dir', bed.at('store')]
    bed.source.faults.push(...faults.map(([, fault]) => fault))
    // An address that never answered as a node is refused at once; this one has.
    bed.source.faults.unshift((response, page) => response.setHeader('content-type', 'application/x-bcs').end(page))
    const ingest = new RunningProgram(words)
    running.push(ingest)
    await eventually(
      () => heldVersion(bed.at('store')) === 100n,
      () => ingest.output,
    )
    expect(bed.source.faults).toEqual([])
    expect(await ingest.stop()).toBe(0)
    expect(ingest.output.match(/asking again in/g)?.length).toBe(faults.length)
    expect(ingest.output).toMatch(/the store holds versions 0 to 100/)
  })
})

describe('an address that answers 404 to everything', () => {
  it('is an error at once, and is followed once a node answers there', async () => {
    const other = createServer((_, response) => response.writeHead(404).end('not here'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const url = `http://127.0.0.1:${port}/v1`
    const node = await bed.start({ options: ['--follow', url, '--no-verify'] })
    await node.outputMatching(/"code":"source_failed","msg":"[^"]* is not the API of a node.*writer is started again/)
    await new Promise((resolve) => {
      other.closeAllConnections()
      other.close(resolve)
    })
    await bed.source.close()
    bed.source = await startSteadyNode(port)
    bed.source.latest = 50
    await reaches(node, 50)
  })
})

describe('a source on a fork', () => {
  it('stops the writer for good, and turns readiness once the newest block is older than max-lag', async () => {
    bed.source.latest = 20
    const age = (): number => Date.now() / 1_000 - STEADY_START_SECONDS
    // Of a ledger that begins years ago and grows by 3 s of its time each second.
    const maxLag = Math.ceil(age()) + 5
    const node = await bed.start({ options: bed.following('--max-lag', String(maxLag)) })
    bed.grow(3)
    await reaches(node, 100)
    await eventually(
      () => isReady(node),
      () => node.output.slice(-1_000),
    )
    bed.source.fork = 3
    await node.outputMatching(/"code":"ledger_fork","msg":"writer gives up: /)
    bed.stopGrowth()
    expect(await stateOf(node, 'writer')).toBe('given-up')
    const client = bed.startClient(() => node)
    await eventually(
      async () => !(await isReady(node)),
      () => node.output.slice(-1_000),
      100_000,
    )
    expect(await node.readiness()).toMatchObject({
      ready: false,
      why: expect.stringMatching(/^the newest block is \d+ s old, max-lag is \d+ s$/),
    })
    await answersRightly(client)
  })

  it('of another chain stops the writer for good, until SIGHUP names another source', async () => {
    bed.source.latest = 300
    const configuration = bed.at('node.json')
    const write = (url: string) => writeFileSync(configuration, JSON.stringify({ follow: url, verify: false }))
    write(bed.source.url)
    const node = await bed.start({ options: ['--config', configuration] })
    await reaches(node, 300)
    bed.source.chainId = 78
    await node.outputMatching(/"code":"chain_id_mismatch","msg":"writer gives up: /)
    const other = await startSteadyNode()
    try {
      other.latest = 400
      write(other.url)
      node.child.kill('SIGHUP')
      await reaches(node, 400)
      expect(node.output).toMatch(/"SIGHUP: follow changed"/)
    } finally {
      await node.stop()
      await other.close()
    }
  })
})

describe('a source that demands a header', () => {
  const SECRET = 'Bearer of-the-test'
  const HEADER = `Authorization: ${SECRET}`

  it.each([
    ['the environment', () => ({ env: { LEDGER_STATE_FOLLOW_HEADER: HEADER } })],
    [
      'a file',
      () => {
        writeFileSync(bed.at('headers'), `X-Other: 1\n${HEADER}\n`)
        return { options: bed.following('--follow-header', `@${bed.at('headers')}`) }
      },
    ],
    [
      'the configuration',
      () => {
        writeFileSync(bed.at('node.json'), JSON.stringify({ 'follow-header': HEADER }))
        return { options: bed.following('--config', bed.at('node.json')) }
      },
    ],
  ])('gets it from %s; neither a log nor the list of processes has it', async (_, options) => {
    bed.source.latest = 200
    bed.source.authorization = SECRET
    const node = await bed.start({ options: bed.following('--log-level', 'trace'), ...options() })
    await reaches(node, 200)
    const commandLines = (await node.readiness()).processes.map(({ pid }) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
    )
    expect(commandLines.join()).not.toMatch(/of-the-test/)
    // It has changed at the source: the refusal is logged, the header is not.
    bed.source.authorization = 'Bearer of-tomorrow'
    bed.source.latest = 300
    await node.outputMatching(/answered 401/)
    expect(await node.stop()).toBe(0)
    expect(node.output).not.toMatch(/of-the-test/)
  })
})
