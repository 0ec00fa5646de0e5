// A node whose source answers wrongly; the real program throughout.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { makeCertificate, type TestCertificate } from '@ledger-state/testing/certificate'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'
import { RunningProgram } from '../../testing/program.ts'
import { REFUSED_TEXTS } from '../../testing/refused-settings.ts'
import { SOURCE_FAULTS, type SourceFault, type SteadyNode, startSteadyNode } from '../../testing/steady-ledger.ts'
import { settings } from '../config/settings.js'

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

/** Waits until the node is ready: readers report their versions once a second. */
async function becomesReady(node: NodeProcess): Promise<void> {
  await eventually(
    () => isReady(node),
    () => `readiness: ${node.output.slice(-1_000)}`,
  )
}

function isReady(node: NodeProcess): Promise<boolean> {
  return fetch(`${node.admin}/-/ready`).then(({ ok }) => ok)
}

describe('broken pages of the source', () => {
  const faults = Object.entries(SOURCE_FAULTS)

  it('are requested again by a node, which stays ready and logs one line of advice for each', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    bed.source.faults.push(...faults.map(([, fault]) => fault))
    bed.source.latest = 500
    const client = bed.startClient(() => node)
    await reaches(node, 500)
    expect(bed.source.faults).toEqual([])
    await becomesReady(node)
    expect(await stateOf(node, 'writer')).toBe('up')
    expect(await node.metrics()).toMatch(/process_restarts_total\{process="writer"\} 0/)
    const linesOf = () => node.output.split('\n').filter((line) => /asking again in/.test(line))
    await eventually(
      () => linesOf().length >= faults.length,
      () => `${faults.length} lines of advice: ${node.output}`,
    )
    const lines = linesOf()
    expect(lines.length).toBe(faults.length)
    expect(lines.filter((line) => /if it lasts, use another node/.test(line)).length).toBe(faults.length - 1)
    await answersRightly(client)
  })

  it('are requested again by ingest --follow, too', async () => {
    bed.source.latest = 100
    const words = ['ingest', bed.source.url, '--follow', '--no-verify', '--data-dir', bed.at('store')]
    bed.source.faults.push(...faults.map(([, fault]) => fault))
    // An address that never answered as a node is refused at once; this one has answered.
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
  it('is reported as an error at once, and followed as soon as a node answers there', async () => {
    const other = createServer((_, response) => response.writeHead(404).end('not here'))
    const port = await freePort()
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${port}/v1`
    const node = await bed.start({ options: ['--follow', url, '--no-verify'] })
    await node.outputMatching(/"code":"source_failed","msg":"[^"]* is not the API of a node.*writer restarts/)
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

/** Waits until metrics and readiness of a node say that its writer has given up. */
async function hasGivenUp(node: NodeProcess, why: RegExp): Promise<void> {
  await eventually(
    async () => why.test((await node.readiness()).why ?? ''),
    () => `${why} as the reason: ${node.output.slice(-1_000)}`,
  )
  expect(await isReady(node)).toBe(false)
  expect(await stateOf(node, 'writer')).toBe('given-up')
  const metrics = await node.metrics()
  expect(metrics).toMatch(/^ledger_state_following 0$/m)
  expect(metrics).toMatch(/^ledger_state_ready 0$/m)
  expect(metrics).toMatch(/^ledger_state_process_state\{process="writer",state="given-up"\} 1$/m)
}

const STRAYS: Readonly<Record<string, SourceFault>> = {
  'of another chain': (response) => {
    response.setHeader('x-aptos-chain-id', 78)
    response.setHeader('content-type', 'application/x-bcs').end(Buffer.of(0))
  },
  'of another chain, with nothing new': (response) => {
    response.setHeader('x-aptos-chain-id', 78)
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error_code":"version_not_found"}')
  },
  'of an older ledger': (response) => {
    response.setHeader('x-aptos-ledger-version', 3)
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error_code":"version_not_found"}')
  },
  'that the version is pruned': (response) => {
    response.writeHead(410, { 'content-type': 'application/json' }).end('{"error_code":"version_pruned"}')
  },
  'with JSON that is cut short': (response) => response.setHeader('content-type', 'application/json').end('[{"ver'),
  'with HTML of a proxy': (response) => response.setHeader('content-type', 'text/html').end('<html>'),
  'with status 400': (response) => response.writeHead(400).end('bad request'),
  'with status 401': (response) => response.writeHead(401).end(),
  'with status 403 and HTML': (response) => response.writeHead(403, { 'content-type': 'text/html' }).end('<html>'),
  'with status 404 and HTML': (response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<html>'),
  'with status 451': (response) => response.writeHead(451).end(),
  'with a redirect to nowhere': (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
}

describe('a stray answer', () => {
  it('of any kind does not stop the writer, and the node stays ready and gets every version', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    const writer = await node.pidOnceUp('writer')
    await becomesReady(node)
    for (const [at, [name, fault]] of Object.entries(STRAYS).entries()) {
      bed.source.faults.push(fault, fault)
      bed.source.latest = 200 + 100 * at
      await reaches(node, bed.source.latest)
      expect(bed.source.faults, name).toEqual([])
      expect(await isReady(node), name).toBe(true)
    }
    expect(await node.pidOnceUp('writer')).toBe(writer)
    const metrics = await node.metrics()
    expect(metrics).toMatch(/^ledger_state_following 1$/m)
    expect(metrics).toMatch(/^ledger_state_ready 1$/m)
    expect(metrics).toMatch(/process_restarts_total\{process="writer"\} 0/)
    await answersRightly(bed.startClient(() => node))
  })

  it('does not stop a writer that has just restarted, either', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    const indexes: SteadyNode['indexFaults'][number][] = [
      (response) => response.end('{"chain_id":78,"ledger_version":"100"}'),
      (response) => response.end('{"chain_id":77,"ledger_v'),
      (response) => response.end('<html>'),
      (response) => response.writeHead(403).end(),
    ]
    for (const [at, fault] of indexes.entries()) {
      const writer = await node.pidOnceUp('writer')
      bed.source.indexFaults.push(fault)
      bed.source.latest = 200 + 100 * at
      kill(writer)
      await reaches(node, bed.source.latest)
      expect(bed.source.indexFaults).toEqual([])
    }
    await becomesReady(node)
  })

  it('does not decide the chain of a node whose store is empty', async () => {
    bed.source.latest = 100
    bed.source.indexFaults.push((response) => response.end('{"chain_id":78,"ledger_version":"100"}'))
    const node = await bed.start()
    await reaches(node, 100)
    expect(JSON.parse(await (await fetch(`${node.address}/v1`)).text())).toMatchObject({ chain_id: 77 })
  })
})

describe('a source of another ledger', () => {
  it('stops the writer until SIGHUP when it is on a fork; the node is not ready but still answers', async () => {
    bed.source.latest = 20
    const node = await bed.start()
    bed.grow(3)
    await reaches(node, 100)
    await becomesReady(node)
    bed.source.fork = 3
    await node.outputMatching(/"code":"ledger_fork","msg":"writer gives up: /)
    await hasGivenUp(node, /^the writer has given up: .*on a fork/)
    await answersRightly(bed.startClient(() => node))
    bed.source.fork = 0
    node.child.kill('SIGHUP')
    await node.outputMatching(/the writer had given up; it is replaced/)
    await reaches(node, bed.source.latest)
    await becomesReady(node)
    expect(await node.metrics()).toMatch(/^ledger_state_following 1$/m)
  })

  it('stops the writer when it is of another chain, until SIGHUP names another source', async () => {
    bed.source.latest = 300
    const configuration = bed.at('node.json')
    const write = (url: string) => writeFileSync(configuration, JSON.stringify({ follow: url, verify: false }))
    write(bed.source.url)
    const node = await bed.start({ options: ['--config', configuration] })
    await reaches(node, 300)
    bed.source.chainId = 78
    await node.outputMatching(/"code":"chain_id_mismatch","msg":"writer gives up: /)
    await hasGivenUp(node, /^the writer has given up: .*has chain 78/)
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

describe('a source of another chain than the store', () => {
  it('ends a node that is started with it, and says why', async () => {
    bed.source.latest = 20
    const node = await bed.start()
    await reaches(node, 20)
    await node.stop()
    bed.source.chainId = 78
    const again = bed.launch()
    await again.ended
    expect(again.child.exitCode).toBe(1)
    expect(again.output).toMatch(/the source has chain 78, but the store holds chain 77: name the folder of another/)
    const alone = await bed.start({ options: [] })
    expect(await alone.version()).toBe(20)
  })
})

describe('a source whose time goes back', () => {
  it('stops the writer before the earlier block until SIGHUP, and the node is not ready', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    bed.source.hourBackFrom = 121
    bed.source.latest = 200
    await node.outputMatching(/"code":"block_order","msg":"writer gives up: .*before the time/)
    await hasGivenUp(node, /^the writer has given up: .*version 121 begins a block at/)
    // Nothing is committed of the batch with that block.
    expect(await node.version()).toBe(100)
    await answersRightly(bed.startClient(() => node))
    bed.source.hourBackFrom = Number.POSITIVE_INFINITY
    node.child.kill('SIGHUP')
    await reaches(node, 200)
  })

  it('is asked again when only one page is wrong', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    bed.source.hourBackFrom = 121
    bed.source.faults.push((response, page) => {
      bed.source.hourBackFrom = Number.POSITIVE_INFINITY
      response.setHeader('content-type', 'application/x-bcs').end(page)
    })
    bed.source.latest = 200
    await node.outputMatching(/before the time .*asking again in/)
    await reaches(node, 200)
    await becomesReady(node)
  })
})

describe('a source with TLS', () => {
  it('is followed again after bad certificates, failed handshakes and truncated answers', async () => {
    const authority = makeCertificate()
    const good = makeCertificate({ issuer: authority })
    const expired = makeCertificate({ issuer: authority, validTo: new Date(Date.now() - 1_000) })
    const elsewhere = makeCertificate({ issuer: authority, address: '127.0.0.2' })
    writeFileSync(bed.at('authority.pem'), authority.cert)
    const port = await freePort()
    let source = await startSteadyNode(port, good)
    try {
      source.latest = 100
      const node = await bed.start({
        options: ['--follow', source.url, '--no-verify'],
        env: { NODE_EXTRA_CA_CERTS: bed.at('authority.pem') },
      })
      await reaches(node, 100)
      await becomesReady(node)
      const exchange = async (certificate: TestCertificate, latest: number) => {
        await source.close()
        source = await startSteadyNode(port, certificate)
        source.latest = latest
      }
      for (const [at, [certificate, why]] of (
        [
          [expired, /certificate has expired; asking again/],
          [makeCertificate(), /self-signed certificate[^"]*NODE_EXTRA_CA_CERTS/],
          [elsewhere, /does not match certificate's altnames/],
        ] as const
      ).entries()) {
        await exchange(certificate, 1_000)
        await node.outputMatching(why)
        expect(await node.version()).toBe(100 * (at + 1))
        expect(await isReady(node)).toBe(true)
        await exchange(good, 100 * (at + 2))
        await reaches(node, 100 * (at + 2))
      }
      await source.close()
      const cutting = createTcpServer((socket) => {
        socket.on('error', () => {}).once('data', () => socket.resetAndDestroy())
      })
      await new Promise<void>((resolve) => cutting.listen(port, '127.0.0.1', resolve))
      await node.outputMatching(/fetch failed: (read ECONNRESET|Client network socket disconnected)[^"]*; asking again/)
      await new Promise((resolve) => cutting.close(resolve))
      source = await startSteadyNode(port, good)
      const cutWithin: SourceFault = (response, page) => {
        response.setHeader('content-length', page.length)
        response.write(page.subarray(0, page.length >> 1), () => response.socket!.destroy())
      }
      source.faults.push(cutWithin, cutWithin)
      source.latest = 600
      await reaches(node, 600)
      expect(source.faults).toEqual([])
      expect(await node.metrics()).toMatch(/process_restarts_total\{process="writer"\} 0/)
      await answersRightly(bed.startClient(() => node))
    } finally {
      await source.close()
    }
  })
})

describe('a bad reload', () => {
  it('changes no setting, whichever of them is bad', async () => {
    bed.source.latest = 100
    const path = bed.at('node.json')
    const good = { follow: bed.source.url, verify: false, retain: 5_000 }
    const write = (content: unknown) =>
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    write(good)
    const node = await bed.start({ options: ['--config', path] })
    await reaches(node, 100)
    const pids = async () => (await node.readiness()).processes.map(({ pid }) => pid)
    await node.pidOnceUp('writer')
    const before = await pids()
    const refused = () => node.output.match(/SIGHUP: no setting was changed/g)?.length ?? 0
    const bad: unknown[] = ['', '{', '[]', 'null', { ...good, unknown: 1 }, { ...good, json: false, bcs: false }]
    bad.push({ ...good, 'replica-of': good.follow }, `${JSON.stringify(good).slice(0, -1)}`)
    for (const [member, texts] of Object.entries(REFUSED_TEXTS)) {
      const { name } = settings[member as keyof typeof settings]
      for (const text of texts) bad.push({ ...good, [name]: text })
    }
    for (const [at, content] of bad.entries()) {
      write(content)
      node.child.kill('SIGHUP')
      await eventually(
        () => refused() === at + 1,
        () => `the refusal of ${JSON.stringify(content).slice(0, 200)}`,
      )
    }
    expect(node.output).not.toMatch(/u:p|p@node/)
    expect(await pids()).toEqual(before)
    bed.source.latest = 300
    await reaches(node, 300)
    await becomesReady(node)
    write({ ...good, retain: 100 })
    node.child.kill('SIGHUP')
    await node.outputMatching(/"SIGHUP: retain changed"/)
    bed.source.latest = 400
    await reaches(node, 400)
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
  ])('gets the header from %s, and it appears in no log and no list of processes', async (_, options) => {
    bed.source.latest = 200
    bed.source.authorization = SECRET
    const node = await bed.start({ options: bed.following('--log-level', 'trace'), ...options() })
    await reaches(node, 200)
    const commandLines = (await node.readiness()).processes.map(({ pid }) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
    )
    expect(commandLines.join()).not.toMatch(/of-the-test/)
    // The header has changed at the source. The refusal is logged, and the header is not.
    bed.source.authorization = 'Bearer of-tomorrow'
    bed.source.latest = 300
    await node.outputMatching(/answered 401/)
    expect(await node.stop()).toBe(0)
    expect(node.output).not.toMatch(/of-the-test/)
  })
})
