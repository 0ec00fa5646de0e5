import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

it('a slice of a state cannot be taken from a pipe: the error says so and names another way', async () => {
  await bed.fill('store', 4)
  expect(bed.run('export', 'feed.ndjson', '--data-dir', 'store', '--from', '2').status).toBe(0)
  const command = bed.commandLine('ingest', '-', '--only-account', '0x5', '--data-dir', 'slice')
  const quoted = command.map((word) => `'${word}'`).join(' ')
  const { status, stderr } = spawnSync('sh', ['-c', `cat feed.ndjson | ${quoted}`], {
    encoding: 'utf8',
    cwd: bed.folder,
  })
  expect(status).toBe(1)
  expect(stderr).toContain('the source can be read only once, but a slice of a state is selected by reading')
  expect(stderr).toMatch(/; save the source as a file, and give the file\n$/)
})
