// A node as its operator sees it: processes, life cycle, metrics, configuration, backups; the real program throughout.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { eventually } from '@ledger-state/testing/eventually'
import { parser as promql } from '@prometheus-io/lezer-promql'
import parsePrometheus from 'parse-prometheus-text-format'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'
import { RunningProgram, runProgram } from '../../testing/program.ts'

/** Whether `promtool` of Debian's package `prometheus` is installed. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

let bed: NodeBed
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  await bed.close()
})

/** Waits until readers have `count` connections, which they report once a second. */
async function hasConnections(node: NodeProcess, count: number): Promise<void> {
  await eventually(
    async () => new RegExp(`^ledger_state_http_connections ${count}$`, 'm').test(await node.metrics()),
    () => `${count} connections`,
  )
}

/** Waits until the metrics match a pattern. Processes report once a second. */
async function metricsMatching(node: NodeProcess, pattern: RegExp): Promise<string> {
  let text = ''
  await eventually(
    async () => {
      text = await node.metrics()
      return pattern.test(text)
    },
    () => `${pattern} in the metrics: ${text}`,
  )
  return text
}

/** Runs a command that sends requests to this process. */
function runBeside(...words: string[]): Promise<number | null> {
  return new RunningProgram(words).ended
}

function openSocket(address: string): { socket: Socket; received: () => string; closed: Promise<unknown> } {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (piece) => {
    text += piece
  })
  socket.on('error', () => {})
  return { socket, received: () => text, closed: new Promise((resolve) => socket.once('close', resolve)) }
}

describe('processes', () => {
  it('are replaced when they end, and their counts are kept', async () => {
    bed.source.latest = 300
    const node = await bed.start()
    await reaches(node, 300)
    const client = bed.startClient(() => node)
    await answersRightly(client)
    const counted = async (): Promise<number> =>
      requestCounts(await node.metrics()).reduce((sum, { count }) => sum + count, 0)
    await eventually(
      async () => (await counted()) > 50,
      () => 'requests to be counted',
    )
    const before = await counted()
    for (const name of ['reader-0', 'writer']) {
      const pid = await node.pidOnceUp(name)
      kill(pid)
      await eventually(
        async () => ![undefined, pid].includes(await node.pidOf(name)),
        () => `another ${name}`,
      )
    }
    await client.stop()
    expect(client.tally.wrong).toEqual([])
    expect(await counted()).toBeGreaterThanOrEqual(before)
    const metrics = await node.metrics()
    expect(metrics).toMatch(/process_restarts_total\{process="reader-0"\} 1/)
    expect(metrics).toMatch(/process_restarts_total\{process="writer"\} 1/)
    expect(node.output).toMatch(/reader-0 was ended by SIGKILL; reader-0 restarts/)
  })

  it('include one reader fewer than there are cores, by default', () => {
    const { readers } = JSON.parse(runProgram(['config', '--print']).stdout)
    expect(readers).toBe(Math.max(1, Number(execFileSync('nproc', { encoding: 'utf8' })) - 1))
  })

  it('prune a store that another process ingests into', async () => {
    bed.source.latest = 1_000
    expect(await runBeside('ingest', bed.source.url, '--data-dir', bed.at('store'), '--no-verify')).toBe(0)
    const node = await bed.start({ options: ['--retain', '100'] })
    await eventually(
      async () => (await node.readiness()).oldest_ledger_version === '901',
      () => node.output,
    )
    // The pruned entries were never in the file: writes that become obsolete in the memtable are not written.
    await metricsMatching(node, /^ledger_state_pruned_entries_total 0$/m)
    await answersRightly(bed.startClient(() => node))
  })
})

/** The parser joins histograms of all labels. */
function requestCounts(text: string): { route: string; count: number }[] {
  const lines = text.matchAll(
    /^ledger_state_http_request_duration_seconds_count\{route="([^"]*)",status="\d+"\} (\d+)$/gm,
  )
  return [...lines].map(([, route, count]) => ({ route: route!, count: Number(count) }))
}

describe('a node that starts and stops', () => {
  it('is alive but not ready while its store is empty', async () => {
    const node = await bed.start({ options: ['--create'] })
    expect((await fetch(`${node.admin}/-/live`)).status).toBe(200)
    expect((await fetch(`${node.admin}/-/ready`)).status).toBe(503)
    expect((await fetch(`${node.address}/v1`)).status).toBe(503)
    await node.stop()
    bed.source.latest = 10
    const filled = await bed.start()
    await reaches(filled, 10)
    await eventually(
      async () => (await fetch(`${filled.admin}/-/ready`)).status === 200,
      () => 'readiness',
    )
    expect((await fetch(`${filled.admin}/v1`)).status).toBe(404)
    expect((await fetch(`${filled.admin}/metrics`, { method: 'POST' })).status).toBe(405)
    // The operator's pages are not on the clients' address.
    expect((await fetch(`${filled.address}/metrics`)).status).toBe(404)
  })

  it('finishes its requests when it is stopped, and accepts no new ones', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    const slow = openSocket(node.address)
    slow.socket.write(
      `POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{"key"`,
    )
    const idle = openSocket(node.address)
    await hasConnections(node, 2)
    const ended = node.stop()
    await idle.closed
    await eventually(
      () =>
        fetch(`${node.address}/v1`).then(
          () => false,
          () => true,
        ),
      () => 'refusal',
    )
    slow.socket.write(':"0x01"}')
    expect(await ended).toBe(0)
    await slow.closed
    expect(slow.received()).toMatch(/^HTTP\/1.1 404 /)
  })

  it('drops requests that outlast the time to stop', async () => {
    const node = await bed.start({ options: bed.following('--stop-timeout', '1') })
    const slow = openSocket(node.address)
    slow.socket.write('POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-length: 14\r\n\r\n')
    await hasConnections(node, 1)
    expect(await node.stop()).toBe(0)
    await slow.closed
    expect(slow.received()).toBe('')
  })

  it('is not ready as soon as a stop begins, and still serves for the drain delay', async () => {
    bed.source.latest = 10
    const node = await bed.start({ options: bed.following('--drain-delay', '10') })
    await reaches(node, 10)
    const ended = node.stop()
    await eventually(
      async () => !(await node.readiness()).ready,
      () => 'readiness to turn',
    )
    expect((await fetch(`${node.address}/v1`, { headers: { connection: 'close' } })).status).toBe(200)
    expect(await ended).toBe(0)
    expect(node.output).toMatch(/readiness is now 503; stopping in 10 s.*"stopping"/s)
  })

  it('can be stopped before its readers are up', async () => {
    for (let tries = 1; ; tries++) {
      const node = bed.launch()
      await node.outputMatching(/probes are on/)
      expect(await node.stop()).toBe(0)
      if (!/serving/.test(node.output)) return
      // A busy machine may run the readers before this process reads the supervisor's message.
      expect(tries).toBeLessThan(20)
    }
  })

  it('says which address is taken before it starts anything', async () => {
    const node = await bed.start({ options: ['--create'] })
    for (const option of ['--listen', '--admin-listen']) {
      const taken = (option === '--listen' ? node.address : node.admin).slice('http://'.length)
      const free = option === '--listen' ? '--admin-listen' : '--listen'
      const words = ['serve', '--data-dir', bed.at('other'), '--create', option, taken, free, '127.0.0.1:0']
      const { status, stderr } = runProgram(words)
      expect([status, stderr]).toEqual([
        1,
        expect.stringContaining(`the address is in use; choose another with ${option}`),
      ])
    }
  })
})

describe('metrics', () => {
  it('parse, have bounded labels and units in their names, and include all that the dashboard shows', async () => {
    bed.source.latest = 2_000
    const node = await bed.start({ options: bed.following('--retain', '500') })
    await reaches(node, 2_000)
    await answersRightly(bed.startClient(() => node))
    for (let ask = 0; ask < 30; ask++) {
      await fetch(`${node.address}/v1/tables/0x${ask}/nothing${ask}`)
      await fetch(`${node.address}/v1/accounts/0x${ask}/balance/0x${ask}`)
    }
    const broken = openSocket(node.address)
    broken.socket.write('no request\r\n\r\n')
    await broken.closed
    await metricsMatching(node, /route="unreadable".*commit_duration.*prune_duration/s)
    const families = parsePrometheus(await node.metrics())
    expect(families.length).toBeGreaterThan(25)
    for (const { name, type, help, metrics } of families) {
      expect(help, name).not.toBe('')
      expect(metrics.length, name).toBeLessThan(100)
      if (type === 'COUNTER') expect(name).toMatch(/_total$/)
      if (type === 'HISTOGRAM') expect(name).toMatch(/_seconds$/)
    }
    const routes = async () => [...new Set(requestCounts(await node.metrics()).map(({ route }) => route))].sort()
    // Each reader reports its answers.
    const expected = [
      '/v1',
      '/v1/accounts/{address}/balance/{asset_type}',
      '/v1/tables/{table_handle}/item',
      '/v1/tables/{table_handle}/raw_item',
      'other',
      'unreadable',
    ]
    await expect.poll(routes).toEqual(expected)

    const dashboard = readFileSync(new URL('../../deploy/grafana-dashboard.json', import.meta.url), 'utf8')
    const shown = new Set(dashboard.match(/ledger_state_[a-z_]+/g))
    const existing = new Set(
      families.flatMap(({ name, type }) => (type === 'HISTOGRAM' ? [`${name}_bucket`, `${name}_count`] : [name])),
    )
    expect([...shown].filter((name) => !existing.has(name))).toEqual([])
    // The other way round: every metric is shown somewhere.
    const unseen = families.map(({ name }) => name).filter((name) => ![...shown].some((one) => one.startsWith(name)))
    expect(unseen).toEqual([])
    const expressions = [...dashboard.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(
      ([, text]) => JSON.parse(text!) as string,
    )
    expect(expressions.length).toBeGreaterThan(30)
    for (const expression of expressions) {
      const cursor = promql.parse(expression.replaceAll('$__rate_interval', '5m')).cursor()
      do expect(cursor.type.isError, expression).toBe(false)
      while (cursor.next())
    }
  })

  const checker = hasPromtool ? 'promtool' : 'promtool, which is not installed'
  it.skipIf(!hasPromtool)(`pass the check of ${checker}`, async () => {
    bed.source.latest = 500
    const node = await bed.start({ options: bed.following('--retain', '200') })
    await reaches(node, 500)
    const input = await metricsMatching(node, /route="\/v1".*commit_duration.*prune_duration/s)
    const checked = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect([checked.status, checked.stderr]).toEqual([0, ''])
  })
})

describe('the log', () => {
  it('is lines of JSON, as is all other output of a node', async () => {
    bed.source.latest = 100
    const node = await bed.start()
    await reaches(node, 100)
    node.child.kill('SIGHUP')
    await node.outputMatching(/SIGHUP/)
    await node.stop()
    const lines = node.output.trim().split('\n')
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ process: expect.any(String) })
    expect(lines.some((line) => /"msg":"serving .+ on http:/.test(line))).toBe(true)
  })

  it('has no line for each request unless its level is debug', async () => {
    bed.source.latest = 100
    const quiet = await bed.start()
    await reaches(quiet, 100)
    expect(quiet.output).not.toMatch(/answered/)
    for (const line of quiet.output.split('\n').filter((text) => text.startsWith('{'))) {
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), process: expect.any(String) })
    }
    await quiet.stop()
    const loud = await bed.start({ options: bed.following('--log-level', 'debug') })
    await loud.version()
    await loud.outputMatching(/"process":"reader-0".*"route":"\/v1","status":200.*"msg":"answered"/)
  })
})

describe('the configuration', () => {
  it('can come from environment variables', async () => {
    bed.source.latest = 50
    const node = await bed.start({
      options: [],
      env: { LEDGER_STATE_FOLLOW: bed.source.url, LEDGER_STATE_VERIFY: 'false', LEDGER_STATE_HEADER_WORD: 'aptos' },
    })
    await eventually(
      async () => (await fetch(`${node.address}/v1`)).headers.get('x-aptos-ledger-version') === '50',
      () => node.output,
    )
  })
})
