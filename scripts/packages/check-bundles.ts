import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ended } from '@ledger-state/testing/run-to-end'
import type { LocalRegistry } from './local-registry.ts'
import { type PackedPackage, ROOT } from './pack-packages.ts'
import { installProject, runWithin } from './project.ts'
import type { Tally } from './tally.ts'

/** A program that merges some megabytes and prints a value, and whether a thread merged. */
const PROGRAM = `import { openStateEngine } from '@ledger-state/state-engine'
async function run() {
  let threads = 0
  process.on('worker', () => threads++)
  const engine = openStateEngine({ path: process.argv[2] })
  for (let version = 0n; version < 20n; version++) {
    const block = { height: version, epoch: 0n, timestampUsec: version }
    const writes = [[Uint8Array.of(Number(version)), Buffer.alloc(200_000, Number(version))]]
    await engine.commit([{ version, block, writes }], { chainId: 1 })
  }
  await engine.merge()
  console.log(engine.at().get(Uint8Array.of(7))[9], threads > 0)
  await engine.close()
}
run()
`

const THREADS = ['compaction', 'level'].map(
  (name) => `${name}-thread=node_modules/@ledger-state/state-engine/dist/compaction/${name}-thread.js`,
)

/**
 * Bundles a program that uses the state engine, as its README says: with esbuild, Vite and webpack. Each bundle must run,
 * and merge in threads where the README says so.
 */
export async function checkBundles(engine: PackedPackage, registry: LocalRegistry, work: string, tally: Tally) {
  const project = join(work, 'bundles')
  mkdirSync(project, { recursive: true })
  const dependencies = { [engine.manifest.name]: `^${engine.manifest.version}` }
  const devDependencies = { esbuild: '^0.28.0', vite: '^8.3.0', webpack: '^5.0.0', 'webpack-cli': '*' }
  const write = (name: string, text: string) => writeFileSync(join(project, name), text)
  write('package.json', JSON.stringify({ name: 'try', private: true, type: 'module', dependencies, devDependencies }))
  write('main.js', PROGRAM)
  write(
    'vite.config.js',
    "export default { build: { outDir: 'vite' }, ssr: { noExternal: true, external: ['lmdb'] } }\n",
  )
  write(
    'webpack.config.cjs',
    `module.exports = {
  mode: 'production',
  target: 'node',
  entry: './main.js',
  externals: { lmdb: 'commonjs lmdb' },
  output: { path: ${JSON.stringify(join(project, 'webpack'))}, filename: 'main.cjs' },
}
`,
  )
  await installProject(project, registry)
  const readme = readFileSync(join(ROOT, engine.folder, 'README.md'), 'utf8')
  const command = /^```bash\n(npx esbuild .*)\n```$/m.exec(readme)?.[1] ?? 'false'
  const esbuild = 'npx esbuild main=main.js --bundle --platform=node'
  const bundles: readonly (readonly [
    name: string,
    command: string,
    output: string,
    hasThreads: boolean | undefined,
  ])[] = [
    ['esbuild, ESM, as the README says', command, 'dist/main.js', false],
    ['esbuild, ESM with threads', `${command} ${THREADS.join(' ')} --outdir=threads`, 'threads/main.js', true],
    [
      'esbuild, CommonJS',
      `${esbuild} --format=cjs --external:lmdb --outdir=cjs --out-extension:.js=.cjs`,
      'cjs/main.cjs',
      false,
    ],
    [
      'esbuild, packages outside',
      `${esbuild} --format=esm --packages=external --outdir=external`,
      'external/main.js',
      true,
    ],
    ['Vite', 'npx vite build --ssr main.js --logLevel error', 'vite/main.js', undefined],
    ['webpack', 'npx webpack --config webpack.config.cjs', 'webpack/main.cjs', undefined],
  ]
  for (const [name, line, output, hasThreads] of bundles) {
    const built = await runWithin(project, 'bash', ['-c', line])
    const ended = built.status === 0 ? await runWithin(project, process.execPath, [output, `store-${output}`]) : built
    tally.add(`bundle of state-engine: ${name}`, faultOf(ended, hasThreads))
  }
}

function faultOf({ status, stdout, stderr }: Ended, hasThreads: boolean | undefined): string | undefined {
  const expected = hasThreads === undefined ? /^7 (true|false)\n$/ : new RegExp(`^7 ${hasThreads}\n$`)
  return status === 0 && expected.test(stdout) ? undefined : `status ${status}\n${stdout}${stderr}`
}
