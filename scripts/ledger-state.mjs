// The program in a checkout: builds what changed, in silence, then becomes `ledger-state`.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = new URL('../apps/node/dist/main.js', import.meta.url)
if (!existsSync(program)) process.stderr.write('building, this once …\n')
const build = spawnSync('turbo', ['run', 'build', '--filter=@ledger-state/node', '--output-logs=errors-only'], {
  cwd: root,
  encoding: 'utf8',
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
})
if (build.status !== 0) {
  process.stderr.write(`${build.stdout ?? ''}${build.stderr ?? build.error}\nthe build failed\n`)
  process.exit(1)
}
await import(program.href)
