import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const workspace = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Builds the changed packages, so that no build is missing or stale: a global set-up of vitest for apps whose tests run
 * the built program. It does nothing in a task of turbo: such a task depends on the build already, and a second build
 * would disturb other tests.
 */
export function setup({ config: { root } }: { readonly config: { readonly root: string } }): void {
  if (process.env.TURBO_HASH !== undefined) return
  const { name } = createRequire(import.meta.url)(join(root, 'package.json')) as { readonly name: string }
  const turbo = join(workspace, 'node_modules/.bin/turbo')
  const words = ['run', 'build', `--filter=${name}`, '--output-logs=errors-only']
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' }
  const { status, stdout, stderr, error } = spawnSync(turbo, words, { cwd: workspace, encoding: 'utf8', env })
  if (status !== 0) throw new Error(`${name} does not build:\n${stdout}${stderr}`, { cause: error })
}
