// Two nodes behind haproxy and nginx, with the configurations in deploy/.
import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { testSeed } from '@ledger-state/testing/random'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import type { NodeProcess } from '../../testing/node-process.ts'
import { type SequentialClient, startSequentialClient } from '../../testing/sequential-client.ts'

const DEPLOY = new URL('../../deploy/', import.meta.url)
const RESTARTS = 3
const CLIENTS = 6
const STDIO: StdioOptions = ['ignore', 'ignore', 'pipe']

const isInstalled = (program: string, word = '-v'): boolean => spawnSync(program, [word]).status === 0
const hasHaproxy = isInstalled('haproxy') && isInstalled('openssl', 'version')
const hasNginx = isInstalled('nginx') && isInstalled('openssl', 'version')

let bed: NodeBed
let balancer: ChildProcess | undefined
const clients: SequentialClient[] = []
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop()))
  if (balancer && balancer.exitCode === null && balancer.signalCode === null) {
    balancer.kill('SIGTERM')
    await once(balancer, 'exit')
  }
  balancer = undefined
  await bed.close()
})

interface Setting {
  /** Public and admin addresses of both nodes. */
  readonly nodes: readonly { readonly listen: string; readonly admin: string }[]
  /** Address of the balancer. */
  readonly listen: string
  readonly cert: string
  readonly key: string
  /** Requests a second of one client address. */
  readonly rate: number
}

function startHaproxy({ nodes, listen, cert, key, rate }: Setting): ChildProcess {
  writeFileSync(bed.at('both.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
  const [a, b] = nodes
  const env = {
    ...process.env,
    LISTEN: listen,
    CERT: bed.at('both.pem'),
    NODE_A: a!.listen,
    NODE_B: b!.listen,
    ADMIN_A: a!.admin,
    ADMIN_B: b!.admin,
    RATE: String(10 * rate),
  }
  return spawn('haproxy', ['-db', '-f', fileURLToPath(new URL('haproxy.cfg', DEPLOY))], { env, stdio: STDIO })
}

/** The recipe's configuration has the limit. */
function startNginx({ nodes, listen, cert, key }: Setting): ChildProcess {
  const folder = bed.at('nginx')
  mkdirSync(`${folder}/ledger-state`, { recursive: true })
  const servers = nodes.map((node) => `server ${node.listen} max_fails=0;\n`)
  writeFileSync(`${folder}/ledger-state/nodes.conf`, servers.join(''))
  const certificate = `ssl_certificate ${cert};\nssl_certificate_key ${key};\n`
  writeFileSync(`${folder}/ledger-state/listen.conf`, `listen ${listen} ssl http2;\n${certificate}`)
  const recipe = fileURLToPath(new URL('nginx/ledger-state.conf', DEPLOY))
  writeFileSync(
    `${folder}/nginx.conf`,
    `user root; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
     events { worker_connections 1000; }
     http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
       fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
       include ${recipe}; }\n`,
  )
  return spawn('nginx', ['-c', `${folder}/nginx.conf`, '-p', folder], { stdio: STDIO })
}

async function prepare(start: (setting: Setting) => ChildProcess, rate: number) {
  const [cert, key] = [bed.at('cert.pem'), bed.at('key.pem')]
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...name]
  execFileSync('openssl', words, { stdio: 'ignore' })
  const ports = await Promise.all(Array.from({ length: 5 }, freePort))
  const address = (at: number) => `127.0.0.1:${ports[at]}`
  const nodes = [
    { listen: address(0), admin: address(1) },
    { listen: address(2), admin: address(3) },
  ]
  const startNode = async (at: number): Promise<NodeProcess> => {
    const { listen, admin } = nodes[at]!
    const options = bed.following('--admin-listen', admin, '--drain-delay', '2', '--readers', '1')
    const node = await bed.start({ dataDir: bed.at(`store-${at}`), listen, options })
    await eventually(
      async () => (await fetch(`http://${admin}/-/ready`)).ok,
      () => node.output,
    )
    return node
  }
  bed.source.latest = 500
  const running = [await startNode(0), await startNode(1)]
  for (const node of running) await reaches(node, 500)
  balancer = start({ nodes, listen: address(4), cert, key, rate })
  let complaints = ''
  balancer.stderr!.on('data', (text) => {
    complaints += text
  })
  await eventually(
    () => isOpen(ports[4]!),
    () => `the balancer: ${complaints}`,
  )
  return { running, startNode, address: `https://${address(4)}`, ca: readFileSync(cert) }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

describe.each([
  ['haproxy', hasHaproxy, startHaproxy],
  ['nginx', hasNginx, startNginx],
] as const)('two nodes behind %s', (program, isThere, start) => {
  const name = isThere ? program : `${program}, which is not installed`

  it.skipIf(!isThere)(
    `fail no request and show no client an older ledger while they restart in turn (${name})`,
    async () => {
      const { running, startNode, address, ca } = await prepare(start, 1_000)
      bed.grow(20)
      const seed = testSeed()
      for (let at = 0; at < CLIENTS; at++) {
        clients.push(startSequentialClient({ address, ca, keepsCookies: true, pauseMs: 20, seed: seed + at }))
      }
      const careless = startSequentialClient({ address, ca, keepsCookies: false, pauseMs: 20, seed: seed - 1 })
      clients.push(careless)
      const answered = async (more: number) => {
        const sum = () => clients.reduce((total, { tally }) => total + tally.answers + tally.failures.length, 0)
        const before = sum()
        await eventually(
          () => sum() > before + more,
          () => `${more} answers`,
        )
      }
      await answered(200)
      for (let restart = 0; restart < RESTARTS; restart++) {
        const at = restart % 2
        expect(await running[at]!.stop()).toBe(0)
        running[at] = await startNode(at)
        // Waits as `max-lag` would; this ledger is years old.
        await reaches(running[at], await running[1 - at]!.version())
        await answered(200)
      }
      bed.stopGrowth()
      for (const { tally } of clients) expect(tally.failures.slice(0, 3)).toEqual([])
      for (const client of clients) if (client !== careless) expect(client.tally.wentBack).toBe(0)
      const sum = clients.reduce((total, { tally }) => total + tally.answers, 0)
      console.log(
        `${program}: ${RESTARTS} restarts, ${sum} answers; without cookies the ledger went back ${careless.tally.wentBack} times of ${careless.tally.answers}`,
      )
    },
  )

  it.skipIf(!isThere)(`limit the requests of each client (${name})`, async () => {
    const { address, ca } = await prepare(start, 20)
    const client = () => startSequentialClient({ address, ca, keepsCookies: false, pauseMs: 0, seed: testSeed() })
    clients.push(...Array.from({ length: 12 }, client))
    await eventually(
      () => clients.some(({ tally }) => tally.failures.some((failure) => /: 429 /.test(failure))),
      () => 'a refusal',
    )
    for (const { tally } of clients)
      expect(tally.failures.filter((failure) => !/: 429 /.test(failure)).slice(0, 3)).toEqual([])
  })
})
