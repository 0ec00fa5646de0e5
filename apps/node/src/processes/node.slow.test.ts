// The longer tests of a node as its operator sees it; the real program throughout.
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateEngineReader, STORE_FILE } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import parsePrometheus from 'parse-prometheus-text-format'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { RunningProgram } from '../../testing/program.ts'
import { BLOCK_VERSIONS } from '../../testing/steady-ledger.ts'

let bed: NodeBed
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  await bed.close()
})

/** Runs a command that sends requests to this process. */
function runBeside(...words: string[]): Promise<number | null> {
  return new RunningProgram(words).ended
}

describe('processes', () => {
  it('share one address, and all see commits in whole blocks', async () => {
    bed.source.latest = 500
    const node = await bed.start({ options: bed.following('--readers', '3') })
    await eventually(
      async () => (await node.readiness()).processes.every(({ state }) => state === 'up'),
      () => node.output,
    )
    expect((await node.readiness()).processes.map(({ name }) => name)).toEqual([
      'reader-0',
      'reader-1',
      'reader-2',
      'writer',
    ])
    let watched = true
    const torn: number[] = []
    const watch = (async () => {
      while (watched) {
        // A connection for each request, so that all readers are asked in turn.
        const response = await fetch(`${node.address}/v1`, { headers: { connection: 'close' } })
        await response.arrayBuffer()
        const version = Number(response.headers.get('x-svc-ledger-version'))
        if (version % BLOCK_VERSIONS !== 0) torn.push(version)
      }
    })()
    // The versions come in batches of many blocks at first, then block by block.
    bed.source.latest = 3_000
    await reaches(node, 3_000)
    for (; bed.source.latest < 4_000; bed.source.latest += 5 * BLOCK_VERSIONS) await sleep(10)
    for (let ask = 0; ask < 6; ask++) await reaches(node, bed.source.latest)
    watched = false
    await watch
    expect(torn).toEqual([])
    const counts = parsePrometheus(await node.metrics()).find(
      ({ name }) => name === 'ledger_state_process_resident_memory_bytes',
    )!
    expect(counts.metrics.map(({ labels }) => labels?.process).sort()).toEqual([
      'reader-0',
      'reader-1',
      'reader-2',
      'supervisor',
      'writer',
    ])
    expect(await node.stop()).toBe(0)
  })
})

describe('the configuration', () => {
  it('is read again on SIGHUP, which changes the window, while a bad file changes nothing', async () => {
    writeFileSync(bed.at('node.json'), JSON.stringify({ retain: 1_500, follow: bed.source.url, verify: false }))
    bed.source.latest = 2_000
    const node = await bed.start({ options: ['--config', bed.at('node.json')] })
    await reaches(node, 2_000)
    const oldest = (version: string) =>
      eventually(
        async () => (await node.readiness()).oldest_ledger_version === version,
        () => `oldest version ${version}: ${node.output.slice(-1_000)}`,
      )
    await oldest('501')
    writeFileSync(bed.at('node.json'), JSON.stringify({ retain: 'all', follow: bed.source.url }))
    node.child.kill('SIGHUP')
    await node.outputMatching(/SIGHUP: no setting was changed: .*node.json: \\"retain\\"/)
    writeFileSync(bed.at('node.json'), JSON.stringify({ retain: 200, follow: bed.source.url, verify: false }))
    node.child.kill('SIGHUP')
    await oldest('1801')
    expect(node.output).toMatch(/"SIGHUP: retain changed"/)
    node.child.kill('SIGHUP')
    await node.outputMatching(/"SIGHUP: no setting has changed"/)
    // A wider window fills with new versions; pruned ones stay pruned.
    writeFileSync(bed.at('node.json'), JSON.stringify({ retain: 1_000, follow: bed.source.url, verify: false }))
    node.child.kill('SIGHUP')
    await node.outputMatching(/it is replaced[\s\S]*it is replaced/)
    // Settings that take effect at the next restart are named until then.
    const more = { retain: 1_000, follow: bed.source.url, verify: false, readers: 3, 'drain-delay': 1, 'max-lag': 4e9 }
    writeFileSync(bed.at('node.json'), JSON.stringify(more))
    const AT_RESTART = 'readers, drain-delay changed, which takes effect at the next restart'
    node.child.kill('SIGHUP')
    await node.outputMatching(new RegExp(`"SIGHUP: max-lag changed; ${AT_RESTART}"`))
    node.child.kill('SIGHUP')
    await node.outputMatching(new RegExp(`"SIGHUP: ${AT_RESTART}"`))
    bed.source.latest = 2_500
    await reaches(node, 2_500)
    expect((await node.readiness()).oldest_ledger_version).toBe('1801')
    await answersRightly(bed.startClient(() => node))
    expect(await node.stop()).toBe(0)
  })
})

describe('a backup', () => {
  it.each([[[]], [['--compact']]])(
    'is complete and can be served when it was taken during writes and reads, with options %j',
    async (options) => {
      bed.source.latest = 1_000
      const node = await bed.start({ options: bed.following('--retain', '2000') })
      await reaches(node, 1_000)
      bed.grow(100)
      try {
        const client = bed.startClient(() => node)
        expect(await runBeside('snapshot', bed.at('copy'), '--data-dir', bed.at('store'), ...options)).toBe(0)
        expect(await runBeside('check', '--data-dir', bed.at('store'))).toBe(0)
        await client.stop()
        expect(client.tally.wrong).toEqual([])
      } finally {
        bed.stopGrowth()
      }
      const engine = openStateEngineReader({ path: bed.at('copy') })
      const { problems } = await engine.check()
      const { latestVersion } = engine.ledger!
      await engine.close()
      expect(problems).toEqual([])
      expect(existsSync(bed.at(`copy/${STORE_FILE}.part`))).toBe(false)
      const copy = await bed.start({ dataDir: bed.at('copy'), options: [] })
      expect(await copy.version()).toBe(Number(latestVersion))
      await answersRightly(bed.startClient(() => copy))
    },
  )
})
