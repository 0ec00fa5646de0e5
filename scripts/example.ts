// Runs a program of `examples/` from a checkout: `pnpm example NAME [ARGUMENT…]`. It packs the packages that the
// program depends on, installs them into a copy of its folder, as npm will once they are published, and starts the
// copy.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { listExamples } from './packages/list-examples.ts'
import { startLocalRegistry } from './packages/local-registry.ts'
import { packNeeded, ROOT } from './packages/pack-packages.ts'
import { installProject } from './packages/project.ts'

const [name = '', ...words] = process.argv.slice(2)
const names = listExamples()
if (!names.includes(name)) {
  process.stderr.write(`pnpm example NAME: NAME is one of ${names.join(', ')}\n`)
  process.exit(2)
}
const work = mkdtempSync(join(tmpdir(), 'example-'))
const project = join(work, name)
cpSync(join(ROOT, 'examples', name), project, {
  recursive: true,
  filter: (path) => basename(path) !== 'node_modules',
})
try {
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  build('ledger-state' in dependencies ? ['./packages/*', 'ledger-state'] : ['./packages/*'])
  process.stderr.write(`packing and installing the packages of examples/${name} …\n`)
  const registry = await startLocalRegistry(await packNeeded(Object.keys(dependencies), work))
  await installProject(project, registry)
  registry.close()
  process.exitCode = await start()
} finally {
  rmSync(work, { recursive: true, maxRetries: 3 })
}

/** Builds packages, whose output does not belong to the example. */
function build(filters: readonly string[]): void {
  const words = ['run', 'build', ...filters.map((filter) => `--filter=${filter}`), '--output-logs=errors-only']
  const { status } = spawnSync('turbo', words, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the build failed')
}

/**
 * Starts the program, or the server of its page. Relative paths in its arguments are relative to the caller's folder.
 */
async function start(): Promise<number> {
  const isPage = existsSync(join(project, 'index.html'))
  const child = isPage
    ? spawn('npm', ['start', '--silent'], { cwd: project, stdio: 'inherit' })
    : spawn(process.execPath, [join(project, 'main.ts'), ...words], { stdio: 'inherit' })
  // The signal reaches the whole process group: the program ends, and then its folder is removed.
  process.on('SIGINT', () => {})
  const [status] = (await once(child, 'exit')) as [number | null]
  return status ?? 1
}
