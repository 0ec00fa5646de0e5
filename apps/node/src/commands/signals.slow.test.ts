// Commands that a signal ends: they print how far they have come and how to resume, and have the right status.
import { existsSync } from 'node:fs'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { accountAddress, BLOCK_VERSIONS, type SteadyNode, startSteadyNode } from '../../testing/steady-ledger.ts'

let bed: CommandBed
let source: SteadyNode | undefined
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
  await source?.close()
  source = undefined
})

const info = () => bed.info('store')

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'ends an ingest at the end of a block, and prints how to resume: %s, status %i',
    async (signal, status) => {
      source = await startSteadyNode()
      // More versions than any machine ingests during this test.
      source.latest = 100_000_000
      const words = ['ingest', source.url, '--data-dir', bed.at('store'), '--no-verify']
      const program = bed.start(...words)
      await eventually(
        async () => Number((await info()).ledger_version) > 0,
        () => program.output,
      )
      expect(await program.stop(signal)).toBe(status)
      const line = `ledger-state: stopped by ${signal}: [\\d,]+ versions, .* run the same command again to resume`
      expect(program.output).toMatch(new RegExp(line))
      const stoppedAt = Number((await info()).ledger_version)
      expect(stoppedAt % BLOCK_VERSIONS).toBe(0)
      source.latest = stoppedAt + 7
      const resumed = bed.start(...words)
      expect(await resumed.ended).toBe(0)
      expect(resumed.output).toMatch(/^ingested: 7 versions/)
    },
  )

  it('ends a proof with status 143, and an ingest that follows a node with 0', async () => {
    source = await startSteadyNode()
    source.latest = 100_000_000
    const proof = bed.start('ingest', source.url, '--dry-run', '--no-verify')
    const follower = bed.start('ingest', source.url, '--data-dir', bed.at('store'), '--no-verify', '--follow')
    await eventually(
      async () => Number((await info()).ledger_version) > 0,
      () => follower.output,
    )
    expect(await proof.stop()).toBe(143)
    expect(proof.output).toMatch(/stopped by SIGTERM: .* the rest was not read/)
    expect(await follower.stop()).toBe(0)
    expect(follower.output).toMatch(/^stopped: [\d,]+ versions/m)
  })

  it('ends a history that nobody reads with status 130, and says that it is not complete', async () => {
    source = await startSteadyNode()
    source.latest = 30_000
    expect(await bed.start('ingest', source.url, '--data-dir', bed.at('store'), '--no-verify').ended).toBe(0)
    const program = bed.start('history', 'account', accountAddress(0), '--data-dir', bed.at('store'))
    const { stdout } = program.child
    stdout!.pause()
    await eventually(
      () => stdout!.readableLength > 0,
      () => program.output,
    )
    program.child.kill('SIGINT')
    await eventually(
      () => program.output !== '',
      () => 'its line',
    )
    stdout!.resume()
    expect(await program.ended).toBe(130)
    expect(program.output).toContain(
      'ledger-state: stopped by SIGINT: the output is not complete; the same command begins again\n',
    )
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ends a prune, and a second one prunes the rest: %s', async (signal) => {
    await bed.fill('store', 30_000)
    const words = ['prune', '--retain', '10', '--data-dir', bed.at('store')]
    const program = bed.start(...words)
    await eventually(
      async () => (await info()).oldest_ledger_version === '29990',
      () => program.output,
    )
    const status = await program.stop(signal)
    // The prune may be done by then, and the signal end the process on its way out.
    if (!program.output.includes('the oldest version is 29990')) {
      expect(status).toBe(signal === 'SIGINT' ? 130 : 143)
      expect(program.output).toContain(
        `ledger-state: stopped by ${signal}: data below the window may be left; the same command deletes it\n`,
      )
    }
    expect(await bed.start(...words).ended).toBe(0)
    expect((await info()).oldest_ledger_version).toBe('29990')
  })

  it('ends an export with status 143, and leaves no file', async () => {
    await bed.fill('store', 30_000)
    const program = bed.start('export', 'copy.ndjson.gz', '--data-dir', 'store')
    await bed.exists('copy.ndjson.gz.unfinished')
    expect(await program.stop()).toBe(143)
    expect(program.output).toContain('stopped by SIGTERM: copy.ndjson.gz is not written')
    expect([existsSync(bed.at('copy.ndjson.gz')), existsSync(bed.at('copy.ndjson.gz.unfinished'))]).toEqual([
      false,
      false,
    ])
  })
})
