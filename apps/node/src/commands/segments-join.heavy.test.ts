import { existsSync } from 'node:fs'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

it('ranges of a backup are filled by several commands, joined, and verified by the root of the state', async () => {
  const chain = new SyntheticChain({ blocks: 24, signers: true })
  writeBackup(chain, bed.at('backup'), { chunk: 20 })
  writeEndings(bed.at('backup'), chain.endings().map(signedLedgerInfo))
  const trust = ['--waypoint', `0:${waypointHash(chain.endings()[0]!)}`, '--chain-id', `${SYNTHETIC_CHAIN_ID}`]
  const { latestVersion } = chain
  const range = (name: string, range: string) => ['ingest', 'backup', '--data-dir', name, '--range', range, ...trust]
  const filled = await bed.runAll([range('a', '0-29'), range('b', '30-59'), range('c', `60-${latestVersion}`)])
  for (const outcome of filled) expect(outcome).toMatchObject({ status: 0, stderr: expect.stringMatching(/ingested/) })
  const gap = await bed.run('segments', 'join', 'a', 'c', '--into', 'out')
  expect(gap).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/c begins with version .* fill the gap/),
  })
  expect(existsSync(bed.at('out'))).toBe(false)
  const joined = await bed.run('segments', 'join', 'c', 'a', 'b', '--into', 'out')
  expect(joined).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      new RegExp(`^out holds versions 0 to ${latestVersion}, joined from 3 stores in .* s\n$`),
    ),
    stderr: expect.stringMatching(
      /state root of version \d+: [0-9a-f]{64}, as the ledger says \(signed by epoch \d+\)/,
    ),
  })
  const checked = await bed.run('check', '--state-root', '--data-dir', 'out')
  expect(checked).toMatchObject({ status: 0, stdout: expect.stringMatching(/as the ledger says/) })
  // The ends of the ranges are audited like all other versions, starting with the first.
  const audited = await bed.run('check', '--all-roots', '--data-dir', 'out')
  expect(audited).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      new RegExp(`^audited to version ${latestVersion}, from version 0: \\d+ blocks, all as the ledger says`),
    ),
  })
  // It goes on from the same backup.
  expect(await bed.run('ingest', 'backup', '--data-dir', 'out', ...trust)).toMatchObject({ status: 0 })
  expect(await bed.run('segments', 'join', 'a', '--into', 'out')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/out already holds a store/),
  })
  expect(await bed.run(...range('d', '0-9'), '--retain', '5')).toMatchObject({ status: 2 })
  expect(await bed.run(...range('d', '9-0'))).toMatchObject({ status: 2 })
})
