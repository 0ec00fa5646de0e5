// The live stream of a whole node: through curl, as webhooks, and a mirror that survives kills on either side.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { bytesToHex } from '@ledger-state/core'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { decodeStateKey } from '@ledger-state/type-tag'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import { STEADY_HANDLE } from '../../testing/steady-ledger.ts'

const MIRROR = fileURLToPath(new URL('../../../../examples/sqlite-mirror/main.ts', import.meta.url))

let bed: NodeBed
let children: ChildProcess[]
let hook: Server | undefined
beforeEach(async () => {
  bed = await NodeBed.open()
  children = []
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  hook?.closeAllConnections()
  hook?.close()
  hook = undefined
  await bed.close()
})

function start(command: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(command, words, {
    cwd: bed.folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

/** The writes of the table in the store, as `key version value`. */
async function storedWrites(): Promise<string[]> {
  const reader = openStateEngineReader({ path: bed.at('store') })
  const found: string[] = []
  for (const { version, writes } of reader.versions(1n, reader.ledger!.latestVersion)) {
    for (const [key, value] of writes) {
      const decoded = key[0] === 0 || key[0] === 1 ? decodeStateKey(key) : undefined
      if (decoded?.kind !== 'tableItem' || bytesToHex(decoded.handle) !== STEADY_HANDLE) continue
      found.push(`${bytesToHex(decoded.key)} ${version} ${value ? bytesToHex(value) : 'deleted'}`)
    }
  }
  await reader.close()
  return found.toSorted()
}

it(`a mirror has every write once, whichever side is killed (TEST_SEED=${testSeed()})`, async () => {
  const random = createRandom(testSeed())
  const listen = `127.0.0.1:${await freePort()}`
  let node = await bed.start({ listen })
  bed.grow(20)
  const path = bed.at('mirror.db')
  const follow = () => start(process.execPath, [MIRROR, `http://${listen}`, path, STEADY_HANDLE])
  let mirror = follow()
  const mirrored = (): number => {
    try {
      const database = new DatabaseSync(path, { readOnly: true })
      const { last } = database.prepare('SELECT max(version) AS last FROM writes').get() as { last: number | null }
      database.close()
      return last ?? 0
    } catch {
      // The mirror has not made it yet, or has it locked.
      return 0
    }
  }
  for (let round = 0; round < 6; round++) {
    const before = mirrored()
    await eventually(
      () => mirrored() > before + 20 + random.below(100),
      () => `a version above ${before} in round ${round}: ${node.output.slice(-1_000)}`,
    )
    if (round % 3 === 0) await node.killAll()
    else if (round % 3 === 1) {
      mirror.kill('SIGKILL')
    } else {
      const reader = (await node.readiness()).processes.find(({ name }) => name.startsWith('reader'))!
      process.kill(reader.pid!, 'SIGKILL')
    }
    if (round % 3 === 0) node = await bed.start({ listen })
    if (round % 3 === 1) mirror = follow()
  }
  bed.stopGrowth()
  const last = await node.version()
  await eventually(
    () => mirrored() >= last,
    () => `version ${last}, not ${mirrored()}`,
  )
  await eventually(
    async () => (await node.version()) <= mirrored(),
    () => 'the mirror at the latest version',
  )
  await node.killAll()
  mirror.kill('SIGKILL')
  const database = new DatabaseSync(path)
  const rows = database.prepare('SELECT key, version, value FROM writes').all()
  database.close()
  const found = rows.map(({ key, version, value }) => `${key} ${version} ${value ?? 'deleted'}`).toSorted()
  const latest = mirroredLast(found)
  expect(found).toEqual((await storedWrites()).filter((one) => Number(one.split(' ')[1]) <= latest))
})

const mirroredLast = (rows: readonly string[]) => Math.max(...rows.map((one) => Number(one.split(' ')[1])))

it('the three lines of docs/api.md make webhooks of the stream, and continue after a crash', async () => {
  const document = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8')
  const lines = /```bash\n(curl -sN .*?)\n```/s.exec(document)![1]!
  expect(lines.split('\n').length).toBe(3)
  const node = await bed.start()
  bed.grow(5)
  await reaches(node, 1)
  const posted: string[] = []
  hook = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      posted.push((JSON.parse(body) as { readonly version: string }).version)
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await eventually(
    () => hook!.listening,
    () => 'the hook',
  )
  const { port } = hook.address() as AddressInfo
  const env = { NODE: node.address, HOOK: `http://127.0.0.1:${port}/` }
  for (let round = 1; round <= 2; round++) {
    const shell = start('setsid', ['bash', '-c', lines.replace('account=0x1', `table=${STEADY_HANDLE}`)], env)
    await eventually(
      () => posted.length >= 10 * round,
      () => `${10 * round} posts, not ${posted.length}`,
    )
    // With its children, which a signal to the shell does not reach.
    process.kill(-shell.pid!, 'SIGKILL')
  }
  // Each version has writes. The one during the kill may have come twice.
  const versions = posted.map(Number)
  const distinct = [...new Set(versions)]
  expect(distinct).toEqual(Array.from({ length: distinct.length }, (_, at) => distinct[0]! + at))
  expect(versions.length - distinct.length).toBeLessThanOrEqual(2)
})
