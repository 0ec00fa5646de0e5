// Faults that a node survives, inflicted on the real program while a client that knows every right answer asks it.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateEngine, STORE_FILE } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { fullRounds } from '@ledger-state/testing/test-scale'
import { tableItemKey } from '@ledger-state/type-tag'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asNobody, canBecomeNobody, NOBODY } from '../../testing/as-nobody.ts'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'
import { openConnections } from '../../testing/open-connections.ts'
import { runProgram } from '../../testing/program.ts'
import { startSteadyClient } from '../../testing/steady-client.ts'
import { startSteadyNode } from '../../testing/steady-ledger.ts'
import { testRandom } from '../../testing/test-random.ts'

/** Number of all kills; TEST_SCALE=7 takes two minutes. */
const KILLS = fullRounds(15)
const canMount = process.getuid?.() === 0 && tryMount()

let bed: NodeBed
const mounts: string[] = []

beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  for (const path of mounts.splice(0)) execFileSync('umount', ['-l', path])
  await bed.close()
})

describe('a node whose processes are killed', () => {
  it(`loses and falsifies nothing when the writer, readers or all are killed ${KILLS} times under load`, async () => {
    const random = testRandom()
    bed.source.latest = 2_000
    const options = bed.following('--retain', '3000', '--readers', '2')
    const listen = `127.0.0.1:${await freePort()}`
    let node = await bed.start({ options, listen })
    await reaches(node, 2_000)
    const client = bed.startClient(() => node)
    bed.grow(20)
    const startAgain = async (): Promise<NodeProcess> => {
      // Starts on the same address, as a supervisor of services does.
      await node.killAll()
      return await bed.start({ options, listen })
    }
    for (let round = 0; round < KILLS; round++) {
      await sleep(random.below(150))
      const durable = client.tally.latest
      const victim = random.pick(['writer', 'writer', 'reader-0', 'reader-1', 'all'])
      if (victim === 'all') node = await startAgain()
      else {
        const pid = await node.pidOf(victim)
        if (pid !== undefined) kill(pid)
      }
      await reaches(node, durable)
      expect(client.tally.wrong).toEqual([])
    }
    bed.stopGrowth()
    await reaches(node, bed.source.latest)
    await answersRightly(client)
    await client.stop()
    expect(await node.stop()).toBe(0)
    expect(runProgram(['check', '--data-dir', bed.at('store')]).stdout).toMatch(/^sound/)
  })

  it('ends all of its processes when the supervisor is killed, so that another node can start', async () => {
    bed.source.latest = 500
    const node = await bed.start()
    await reaches(node, 500)
    const { processes } = await node.readiness()
    node.child.kill('SIGKILL')
    const isGone = (pid: number) => !existsSync(`/proc/${pid}`)
    await eventually(
      () => processes.every(({ pid }) => isGone(pid!)),
      () => 'the end of all processes',
    )
    bed.source.latest = 600
    await reaches(await bed.start(), 600)
  })
})

describe('a wrong bit in a WAL file', () => {
  it('stops the writer and every new reader, shows in readiness, and hides nothing that was committed', async () => {
    bed.source.latest = 40
    const node = await bed.start({ options: bed.following('--readers', '2') })
    for (; bed.source.latest < 200; bed.source.latest += 40) await reaches(node, bed.source.latest)
    await reaches(node, 200)
    const client = bed.startClient(() => node)
    await answersRightly(client)
    const dataDir = bed.at('store')
    const file = join(dataDir, readdirSync(dataDir).find((name) => name.startsWith('write-ahead-'))!)
    const middle = Buffer.of(readFileSync(file)[statSync(file).size >> 1]! ^ 4)
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, middle, 0, 1, statSync(file).size >> 1)
    closeSync(descriptor)
    // Readers that have already read the file keep answering.
    await answersRightly(client)
    kill(await node.pidOnceUp('writer'))
    await eventually(
      async () =>
        /^the writer has given up: .*write-ahead-.*missing or damaged/.test((await node.readiness()).why ?? ''),
      () => `a writer that gives up: ${node.output.slice(-1_000)}`,
    )
    const metrics = await node.metrics()
    expect(metrics).toMatch(/^ledger_state_ready 0$/m)
    expect(metrics).toMatch(/^ledger_state_process_state\{process="writer",state="given-up"\} 1$/m)
    kill(await node.pidOnceUp('reader-0'))
    await node.outputMatching(/"code":"store_corrupt".*reader-0 restarts/)
    await answersRightly(client)
    await client.stop()
    expect(client.tally.wrong).toEqual([])
    for (const words of [['info'], ['export', bed.at('x.gz')], ['snapshot', bed.at('copy')], ['check'], ['serve']]) {
      const { status, stdout, stderr } = runProgram([...words, '--data-dir', dataDir])
      expect([words, status, stdout + stderr]).toEqual([
        words,
        1,
        expect.stringMatching(/write-ahead-.*missing or damaged/),
      ])
    }
    expect(readdirSync(bed.folder)).not.toContain('x.gz')
  })
})

describe('a node with a bad disk', () => {
  it.skipIf(!canMount)('stops its writer while the disk is full, and answers requests throughout', async () => {
    mkdirSync(bed.at('small'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', bed.at('small')])
    mounts.push(bed.at('small'))
    const dataDir = bed.at('small/store')
    bed.source.latest = 20_000
    let node = await bed.start({ dataDir })
    const client = bed.startClient(() => node)
    await node.outputMatching(/"code":"store_full"/)
    await answersRightly(client)
    const durable = await node.version()
    expect(durable).toBeGreaterThan(0)
    // The copy does not fit; the command says so, and leaves nothing of it but its lock.
    const copy = runProgram(['snapshot', bed.at('small/copy'), '--data-dir', dataDir])
    expect([copy.status, copy.stderr]).toEqual([1, expect.stringMatching(/disk .*full/)])
    expect(readdirSync(bed.at('small/copy'))).toEqual(['writer.lock'])
    expect(await node.stop()).toBe(0)
    // Pruning, too, needs pages before it frees any.
    const pruned = runProgram(['prune', '--data-dir', dataDir, '--retain', '100'])
    if (pruned.status !== 0) expect(pruned.stderr).toMatch(/disk .*full/)
    expect(runProgram(['check', '--data-dir', dataDir]).stdout).toMatch(/^sound/)
    node = await bed.start({ dataDir })
    await answersRightly(client)
    execFileSync('mount', ['-o', 'remount,size=200m', bed.at('small')])
    await reaches(node, bed.source.latest)
    await answersRightly(client)
    expect(await node.stop()).toBe(0)
    expect(runProgram(['check', '--data-dir', dataDir]).stdout).toMatch(/^sound/)
  })

  it('stops its writer while a file may not grow', async () => {
    bed.source.latest = 20_000
    const node = await bed.start({ prefix: ['prlimit', '--fsize=3000000:unlimited'] })
    const client = bed.startClient(() => node)
    await node.outputMatching(/"code":"store_f(ull|ailed)"/)
    await answersRightly(client)
    await eventually(
      async () => {
        // The limit applies to each process, and to those that the supervisor starts later.
        for (const pid of [node.child.pid!, ...(await node.readiness()).processes.map((one) => one.pid ?? 0)]) {
          if (pid) spawnSync('prlimit', [`--pid=${pid}`, '--fsize=unlimited'])
        }
        return (await node.version()) === bed.source.latest
      },
      () => node.output.slice(-1_000),
    )
    await answersRightly(client)
    expect(await node.stop()).toBe(0)
    expect(runProgram(['check', '--data-dir', bed.at('store')]).stdout).toMatch(/^sound/)
  })

  it('serves no wrong value from damaged pages, and check finds the damage', async () => {
    const random = testRandom()
    bed.source.latest = 2_000
    const whole = await bed.start()
    await reaches(whole, 2_000)
    await whole.stop()
    const files = readdirSync(bed.at('store')).filter((name) => name === STORE_FILE || /^segment-\d+$/.test(name))
    expect(files.length).toBeGreaterThan(1)
    let found = 0
    const rounds = 4
    // A fault on a free page of the catalog changes nothing, so faults are added until two are found.
    for (let round = 0; round < rounds || found < 2; round++) {
      expect(round, 'rounds with damage that check does not find').toBeLessThan(rounds + 40)
      const file = bed.at(join('store', random.pick(files)))
      execFileSync('cp', [file, bed.at('sound')])
      const descriptor = openSync(file, 'r+')
      // Skips the two pages that say where everything begins.
      const offset = 2 * 4_096 + random.below(statSync(file).size - 2 * 4_096 - 64)
      writeSync(descriptor, Buffer.alloc(64, 0xa5), 0, 64, offset)
      closeSync(descriptor)
      if (runProgram(['check', '--data-dir', bed.at('store')]).status !== 0) found++
      const node = bed.launch({ options: [] })
      const isUp = await node.listening().then(
        () => true,
        () => false,
      )
      if (isUp) {
        const client = startSteadyClient({ address: () => node.address, connections: 4 })
        client.tally.latest = 2_000
        await eventually(
          () => client.tally.requests > 600,
          () => 'requests',
        )
        await client.stop()
        expect(client.tally.wrong).toEqual([])
      }
      await node.killAll()
      renameSync(bed.at('sound'), file)
    }
  })

  it('replaces a reader that ends because a file was cut off, and its log names check', async () => {
    const items = 2_000
    const keyOf = (item: number) => Buffer.from(Uint32Array.of(item).buffer)
    const dataDir = bed.at('cut')
    const engine = openStateEngine({ path: dataDir })
    const writes = Array.from({ length: items }, (_, item): [Uint8Array, Uint8Array] => [
      tableItemKey(new Uint8Array(32), keyOf(item)),
      Buffer.alloc(40, 1),
    ])
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes }], { chainId: 4 })
    await engine.merge()
    await engine.close()
    const node = await bed.start({ dataDir, options: ['--readers', '1'] })
    const read = (item: number) =>
      fetch(`${node.address}/v1/tables/0x0/raw_item`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ key: `0x${keyOf(item).toString('hex')}` }),
      }).then(
        ({ status }) => status,
        () => 'no answer',
      )
    expect(await read(1)).toBe(200)
    const segment = readdirSync(dataDir).find((name) => /^segment-\d+$/.test(name))!
    truncateSync(join(dataDir, segment), 2 * 4_096)
    expect(await read(1)).toBe('no answer')
    await node.outputMatching(
      new RegExp(
        `reader-0 was ended by SIG(BUS|SEGV): a file of the store may be damaged; ledger-state check --data-dir ${dataDir}`,
      ),
    )
    const check = runProgram(['check', '--data-dir', dataDir])
    expect([check.status, check.stderr]).toEqual([1, expect.stringMatching(/^ledger-state: .* is damaged: .*\n$/)])
    await node.stop()
  })
})

describe('the data folder', () => {
  it('is served but not written to while it is missing, and is used again when it is back', async () => {
    bed.source.latest = 1_000
    const node = await bed.start()
    await reaches(node, 1_000)
    const client = bed.startClient(() => node)
    renameSync(bed.at('store'), bed.at('elsewhere'))
    bed.source.latest = 1_500
    await node.outputMatching(
      new RegExp(`${STORE_FILE} was removed while it was open.*the removed file is still served`),
    )
    await node.outputMatching(/"code":"store_missing"/)
    await answersRightly(client)
    expect(await node.version()).toBe(1_000)
    renameSync(bed.at('elsewhere'), bed.at('store'))
    await reaches(node, 1_500)
    await answersRightly(client)
    expect(await node.stop()).toBe(0)
  })

  it('is served from the copy that replaces it', async () => {
    bed.source.latest = 300
    const node = await bed.start()
    await reaches(node, 300)
    expect(runProgram(['snapshot', bed.at('copy'), '--data-dir', bed.at('store')]).status).toBe(0)
    const client = bed.startClient(() => node)
    renameSync(bed.at('store'), bed.at('old'))
    renameSync(bed.at('copy'), bed.at('store'))
    await node.outputMatching(/was replaced while it was open/)
    bed.source.latest = 700
    await reaches(node, 700)
    await answersRightly(client)
    await node.stop()
    expect(runProgram(['info', '--data-dir', bed.at('store')]).stdout).toMatch(/versions +0 to 700/)
  })

  it.skipIf(!canBecomeNobody)(
    'is served when it is read-only, and the writer says which permission it lacks',
    async () => {
      bed.source.latest = 100
      const node = await bed.start()
      await reaches(node, 100)
      await node.stop()
      const reader = await bed.start({ prefix: asNobody() })
      await reader.outputMatching(/"code":"store_read_only","msg":"[^"]*this process cannot write to/)
      await answersRightly(bed.startClient(() => reader))
      expect(await reader.stop()).toBe(0)
    },
  )

  it.skipIf(!canBecomeNobody)('is the only place where a node needs to write', async () => {
    mkdirSync(bed.at('store'))
    chownSync(bed.at('store'), NOBODY, NOBODY)
    bed.source.latest = 300
    const node = await bed.start({ prefix: asNobody(), env: { HOME: '/nonexistent', TMPDIR: '/nonexistent' } })
    await reaches(node, 300)
    await answersRightly(bed.startClient(() => node))
    expect(await node.stop()).toBe(0)
  })

  it('has one writer: a second node serves while its own writer waits for the first to end', async () => {
    bed.source.latest = 400
    const first = await bed.start()
    await reaches(first, 400)
    const second = await bed.start()
    await second.outputMatching(/"code":"store_locked"/)
    await answersRightly(bed.startClient(() => second))
    await first.stop()
    bed.source.latest = 900
    await reaches(second, 900)
  })
})

describe('a node in a faulty environment', () => {
  it('gives the same answers while its clock jumps back and forth by days', async () => {
    const random = testRandom()
    const jumps = bed.at('jumps.mjs')
    writeFileSync(
      jumps,
      `const now = Date.now
       let days = 0
       let turn = ${random.below(400)}
       setInterval(() => { days = (turn = (turn * 151 + 7) % 400) - 200 }, 30).unref()
       Date.now = () => now() + days * 86_400_000
       const RealDate = Date
       globalThis.Date = class extends RealDate { constructor(...args) { super(...(args.length ? args : [RealDate.now()])) } }`,
    )
    bed.source.latest = 500
    const node = await bed.start({
      env: { NODE_OPTIONS: `--import=${jumps}` },
      options: bed.following('--retain', '2000'),
    })
    const client = bed.startClient(() => node)
    bed.grow(20)
    await reaches(node, 3_000)
    await answersRightly(client, 300)
    bed.stopGrowth()
    expect(await node.metrics()).toMatch(/ledger_state_lag_seconds \d/)
    expect(await node.stop()).toBe(0)
  })

  it('waits for a source that stalls and then ends', async () => {
    bed.source.latest = 300
    const node = await bed.start()
    await reaches(node, 300)
    bed.source.isStalled = true
    bed.source.latest = 400
    const client = bed.startClient(() => node)
    await answersRightly(client)
    expect(await node.version()).toBe(300)
    bed.source.isStalled = false
    await bed.source.close()
    await node.outputMatching(/asking again in/)
    await answersRightly(client)
    const port = Number(new URL(bed.source.url).port)
    bed.source = await startSteadyNode(port)
    bed.source.latest = 500
    await reaches(node, 500)
    bed.source.isStalled = true
    expect(await node.stop()).toBe(0)
    // The writer gave up its request.
    expect(node.output).not.toMatch(/did not stop in time/)
  })

  it('refuses and counts connections when file descriptors run out, loses no process, and recovers when they close', async () => {
    bed.source.latest = 200
    const node = await bed.start({ prefix: ['prlimit', '--nofile=160:160'], options: bed.following('--readers', '2') })
    await reaches(node, 200)
    const greedy = await openConnections(node.address, 1_000)
    await eventually(
      () => greedy.filter(({ destroyed }) => destroyed).length > 500,
      () => 'the end of connections that no reader takes',
    )
    bed.source.latest = 400
    await eventually(
      async () => (await node.readiness()).ledger_version === '400',
      () => node.output.slice(-1_000),
    )
    const metrics = await node.metrics()
    expect(metrics).toMatch(/^ledger_state_http_refused_connections_total [1-9]/m)
    expect(metrics.match(/^ledger_state_process_restarts_total\{process="[^"]+"\} \d+$/gm)).toEqual([
      'ledger_state_process_restarts_total{process="reader-0"} 0',
      'ledger_state_process_restarts_total{process="reader-1"} 0',
      'ledger_state_process_restarts_total{process="writer"} 0',
    ])
    for (const socket of greedy) socket.destroy()
    await answersRightly(bed.startClient(() => node))
    expect(await node.stop()).toBe(0)
  })
})

it('the soft limit of descriptors is raised to the hard one, and connections up to it are served', async () => {
  const bed = await NodeBed.open()
  try {
    bed.source.latest = 10
    const node = await bed.start({ prefix: ['prlimit', '--nofile=100:700'], options: bed.following('--readers', '1') })
    await reaches(node, 10)
    const { pid } = (await node.readiness()).processes[0]!
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max open files +700 +700 /m)
    const open = await openConnections(node.address, 500)
    await eventually(
      async () => /^ledger_state_http_connections 50\d$/m.test(await node.metrics()),
      () => 'the connections',
    )
    expect(open.filter(({ destroyed }) => destroyed)).toEqual([])
    expect(await node.metrics()).toMatch(/^ledger_state_http_refused_connections_total 0$/m)
    for (const socket of open) socket.destroy()
    expect(await node.stop()).toBe(0)
  } finally {
    await bed.close()
  }
})

function tryMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'mount-'))
  try {
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]).status !== 0) {
      console.warn('the tests of a full disk are skipped: no file system can be mounted here')
      return false
    }
    execFileSync('umount', [path])
    return true
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}
