// The commands of docs/holdings.md print the output on that page, on the demonstration ledger as `start` ingests it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { DEMO_WINDOW } from '../demo/demo-ledger.js'

let bed: CommandBed

beforeAll(async () => {
  bed = new CommandBed()
  await bed.fillWithDemo('data/demo', { retain: DEMO_WINDOW })
})
afterAll(async () => {
  await bed.close()
})

const text = readFileSync(new URL('../../../../docs/holdings.md', import.meta.url), 'utf8')
const blocks = [...text.matchAll(/^```text\n(.*?)^```$/gms)].map(([, block]) => block!)
const commands = blocks.flatMap((block) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...printed] = part.split('\n')
      return { command, printed: printed.join('\n') }
    }),
)

it('docs/holdings.md has commands for its four use cases', () => {
  expect(blocks).toHaveLength(4)
  expect(commands.length).toBeGreaterThan(4)
})

it.each(commands)('prints the output of the documentation: $command', ({ command, printed }) => {
  const [node, program] = bed.commandLine()
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', `npx() { shift 3; '${node}' '${program}' "$@"; }\n${command}`],
    { cwd: bed.folder, encoding: 'utf8' },
  )
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toBe(printed)
})
