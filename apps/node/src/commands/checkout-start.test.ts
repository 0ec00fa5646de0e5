// The first start in a checkout, with a build that ends when the test lets it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '@ledger-state/testing/eventually'
import { expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../../../scripts/ledger-state.mjs', import.meta.url))

it('a first start says at once what it builds, and a later one is silent', async () => {
  const root = mkdtempSync(join(tmpdir(), 'checkout-'))
  for (const name of ['scripts', 'bin', 'apps/node/dist', 'apps/explorer/dist']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  cpSync(SCRIPT, join(root, 'scripts/ledger-state.mjs'))
  // Builds the page when it may, and the program when it may. A later build has nothing to do.
  const turbo = `#!/bin/sh
[ -e apps/node/dist/main.js ] && exit 0
while [ ! -e first ]; do sleep 0.05; done
: > apps/explorer/dist/index.html
while [ ! -e second ]; do sleep 0.05; done
echo 'console.log("the program ran")' > apps/node/dist/main.js
`
  writeFileSync(join(root, 'bin/turbo'), turbo)
  chmodSync(join(root, 'bin/turbo'), 0o755)
  const start = () => {
    const env = { ...process.env, PATH: `${join(root, 'bin')}:${process.env.PATH}` }
    const child = spawn(process.execPath, [join(root, 'scripts/ledger-state.mjs')], { env })
    const printed = { out: '', err: '' }
    child.stdout.on('data', (data) => (printed.out += data))
    child.stderr.on('data', (data) => (printed.err += data))
    return { child, printed }
  }
  const first = start()
  const ended = once(first.child, 'close')
  const isBuilding = (text: string) => () => first.printed.err.endsWith(`building ${text} …\n`)
  const said = () => `a step in ${JSON.stringify(first.printed.err)}`
  await eventually(isBuilding('the page of the node (1 of 2)'), said)
  writeFileSync(join(root, 'first'), '')
  await eventually(isBuilding('the program (2 of 2)'), said)
  writeFileSync(join(root, 'second'), '')
  expect(await ended).toEqual([0, null])
  expect(first.printed.err).toMatch(/built in \d+ s; the next start needs no build\n$/)
  expect(first.printed.out).toBe('the program ran\n')
  const second = start()
  expect(await once(second.child, 'close')).toEqual([0, null])
  expect(second.printed).toEqual({ out: 'the program ran\n', err: '' })
  rmSync(root, { recursive: true })
})
