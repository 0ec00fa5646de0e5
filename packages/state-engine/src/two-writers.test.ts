import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { eventually } from '@ledger-state/testing/eventually'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { afterEach, expect, it } from 'vitest'
import { expectSoundStore } from '../testing/killed-writer.ts'
import { differences } from '../testing/known-ledger.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openStateEngineReader } from './open-state-engine.js'

const SCRIPT = await bundledScript(new URL('../testing/contending-writer.ts', import.meta.url))
const SEED = testSeed()
const KILLS = isSlowRun ? scaledRounds(60) : 4
const WRITERS = 3
const folder = temporaryFolder()
const children = new Set<ChildProcess>()

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
})

it(`writers that contend for one folder commit each version once, and none is lost, although they are killed (TEST_SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  const acknowledged: bigint[] = []
  let locked = 0
  const failures: string[] = []

  function startWriter(): ChildProcess {
    const child = spawn(process.execPath, [SCRIPT, folder.path], { stdio: ['ignore', 'pipe', 'pipe'] })
    children.add(child)
    let rest = ''
    child.stdout.on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        if (line === 'locked') locked++
        else acknowledged.push(BigInt(line))
      }
    })
    child.stderr.on('data', (chunk) => failures.push(String(chunk)))
    return child
  }

  const grown = async (count: number) => {
    const enough = acknowledged.length + count
    await eventually(
      () => failures.length > 0 || acknowledged.length >= enough,
      () => `${enough} commits, not only ${acknowledged.length}`,
    )
    expect(failures).toEqual([])
  }

  const writers = Array.from({ length: WRITERS }, startWriter)
  await grown(1)
  const reader = openStateEngineReader({ path: folder.path })
  let seen = -1n
  for (let kills = 0; kills < KILLS; kills++) {
    await grown(5 + random.below(20))
    const { latestVersion } = reader.ledger!
    expect(latestVersion).toBeGreaterThanOrEqual(seen)
    seen = latestVersion
    expect(differences(reader.at(latestVersion))).toEqual([])
    const place = random.below(WRITERS)
    const [victim] = writers.splice(place, 1, startWriter())
    victim!.kill('SIGKILL')
    await once(victim!, 'close')
  }
  await grown(20)
  await eventually(
    () => failures.length > 0 || locked > 0,
    () => 'a writer that another one keeps out',
  )
  expect(failures).toEqual([])
  for (const writer of writers) {
    writer.kill('SIGKILL')
    await once(writer, 'close')
  }
  await reader.close()
  const latest = acknowledged.reduce((a, b) => (a > b ? a : b))
  expect(new Set(acknowledged).size).toBe(acknowledged.length)
  await expectSoundStore(folder.path, latest, 1)
})
