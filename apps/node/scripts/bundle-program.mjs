// Bundles the program and the packages of the workspace into `dist`. A process then loads tens of files instead of
// 600, which took most of the time of a command such as `get`. Packages of others are installed next to the bundle,
// since some have binaries.
import { globSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { IMPORT_FROM_MODULES } from './import-from-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = join(root, '../../packages')
const dist = join(root, 'dist')

/** Modules of threads in packages: modules that answer requests of the thread that started them. */
const threads = globSync('*/src/**/*-{worker,thread}.ts', { cwd: packages })
  .map((path) => join(packages, path))
  .filter((path) => /\bserve(Requests|Jobs)[(<]/.test(readFileSync(path, 'utf8')))
const processes = [
  'reader',
  'writer',
  'feed-server',
  'check-process',
  'tree-process',
  'audit-process',
  'changes-worker',
].map((name) => join(root, 'src/processes', `${name}.ts`))
processes.push(join(root, 'src/parquet/range-worker.ts'))

/**
 * All but `main.js` lies in `dist/processes`: modules find processes and threads next to themselves, as in the sources.
 */
const FOLDER = 'processes'
const entryPoints = [...processes, ...threads].map((path) => ({ in: path, out: `${FOLDER}/${basename(path, '.ts')}` }))

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/**
 * Packages of others are not bundled, so the program itself has to depend on those that packages of the workspace
 * import.
 * @type {import('esbuild').Plugin}
 */
const PACKAGES_OF_OTHERS = {
  name: 'packages of others',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point' || /^(@ledger-state\/|#)/.test(path)) return undefined
      const [name] = /^(@[^/]+\/)?[^/]+/.exec(path) ?? [path]
      if (isBuiltin(path) || name in dependencies) return { path, external: true }
      return { errors: [{ text: `${importer} imports ${name}, which is not in the dependencies of the program` }] }
    })
  },
}

rmSync(dist, { recursive: true, force: true })
// Without `keepNames`, which names each closure again whenever it is made: 7 % of the time of a GET, 14 % of a POST.
await build({
  entryPoints: [{ in: join(root, 'src/main.ts'), out: 'main' }, ...entryPoints],
  outdir: dist,
  chunkNames: `${FOLDER}/[name]-[hash]`,
  bundle: true,
  splitting: true,
  sourcemap: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.15',
  conditions: ['@ledger-state/source'],
  plugins: [IMPORT_FROM_MODULES, PACKAGES_OF_OTHERS],
  logLevel: 'warning',
})
