// Checks a project that installed a package: declarations, bundles for browsers, the oldest Node.js.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './pack-packages.ts'
import { faultOfRun, printedTexts, runWithin } from './project.ts'

/** Packages that run on any runtime. */
const PORTABLE_PACKAGES: readonly string[] = [
  'core',
  'engine',
  'type-tag',
  'bcs',
  'move-module',
  'proof',
  'records',
  'slices',
  'light-client',
  'ledger',
]

export function isPortable(folder: string): boolean {
  return PORTABLE_PACKAGES.includes(folder)
}

/**
 * Checks that the declarations of a package, and its examples, compile even if the declarations of libraries are
 * checked too. Returns the fault.
 */
export async function typesFault(project: string, folder: string): Promise<string | undefined> {
  const examples = readdirSync(project).filter((file) => /^example-\d+\.ts$/.test(file))
  for (const module of isPortable(folder) ? ['nodenext', 'preserve'] : ['nodenext']) {
    const compilerOptions = {
      target: 'es2024',
      module,
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      // Without Node's types, types of a browser declare the console.
      ...(isPortable(folder)
        ? { lib: ['es2024', 'dom'], types: [] }
        : { lib: ['es2024'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] }),
    }
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: filesToCompile(project, folder, examples) }),
    )
    const { status, stdout } = await runWithin(project, join(ROOT, 'node_modules/.bin/tsc'), [])
    if (status !== 0) return `declarations as ${module}:\n${stdout}`
  }
  return undefined
}

/**
 * Files to compile. Those of a portable package include its entry points, and no example that uses a package with the
 * types of Node.
 */
function filesToCompile(project: string, folder: string, examples: readonly string[]): readonly string[] {
  if (!isPortable(folder)) return examples
  const entries = entryPoints(project, folder).map(
    (entry) => `export * as _${entry.replaceAll(/\W/g, '_')} from '${entry}'`,
  )
  writeFileSync(join(project, 'entries.ts'), `${entries.join('\n')}\n`)
  const isFree = (example: string) =>
    !/state-engine|engine\/contract|feed/.test(readFileSync(join(project, example), 'utf8'))
  return ['entries.ts', ...examples.filter(isFree)]
}

/** Entry points that need Node.js, or an optional peer. */
const NOT_EVERYWHERE: readonly string[] = [
  './files',
  './requests',
  './threads',
  './contract',
  './mysten',
  './epoch-change',
  './transaction-group',
  './writes-hash',
  './take',
]

/** Names by which a package can be imported on any runtime. */
function entryPoints(project: string, folder: string): string[] {
  const name = `@ledger-state/${folder}`
  const manifest = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, unknown>>
  }
  const names = Object.keys(manifest.exports).filter((path) => !path.includes('*') && !NOT_EVERYWHERE.includes(path))
  return names.map((path) => name + path.slice(1))
}

/** Names that only Node.js has. Methods may be called `process`, as methods of hashes are. */
const FORBIDDEN_IN_BROWSERS = /\bBuffer\b|(?<!\.)\bprocess\b(?!\()|["']node:/

/** Checks that a bundle of a portable package for browsers uses nothing of Node. Returns the fault. */
export async function bundleFault(project: string, folder: string): Promise<string | undefined> {
  const contents = entryPoints(project, folder)
    .map(
      (entry) =>
        `import * as _${entry.replaceAll(/\W/g, '_')} from '${entry}'\nconsole.log(_${entry.replaceAll(/\W/g, '_')})`,
    )
    .join('\n')
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    target: 'es2024',
    logLevel: 'silent',
  })
  const found = FORBIDDEN_IN_BROWSERS.exec(outputFiles[0]!.text)
  return found
    ? `the bundle for browsers has ${found[0]}: ${outputFiles[0]!.text.slice(found.index - 80, found.index + 80)}`
    : undefined
}

/** Packages with binaries, which no bundle has. */
const EXTERNAL: readonly string[] = ['lmdb', '@chainsafe/blst', 'pg-native']

/**
 * Checks that a package is loaded from a bundle in CommonJS, the default of bundlers for Node.js. Returns the fault.
 */
export async function commonJsFault(project: string, folder: string): Promise<string | undefined> {
  const bundle = join(project, 'bundle.cjs')
  await build({
    stdin: { contents: `console.log(Object.keys(require('@ledger-state/${folder}')).length > 0)`, resolveDir: project },
    bundle: true,
    outfile: bundle,
    platform: 'node',
    format: 'cjs',
    external: [...EXTERNAL],
    logLevel: 'silent',
  })
  const { stdout, stderr } = await runWithin(project, process.execPath, [bundle])
  return stdout === 'true\n' ? undefined : `the bundle in CommonJS: ${stderr}`
}

/**
 * Path of the oldest Node.js that packages say they support (`OLDEST_NODE` names it); undefined if it is not installed.
 */
export const oldestNode = findOldestNode()

function findOldestNode(): { readonly path: string; readonly version: readonly number[] } | undefined {
  for (const path of [process.env.OLDEST_NODE, '/usr/bin/node', '/usr/local/bin/node']) {
    if (path === undefined || !existsSync(path)) continue
    const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1).split('.').map(Number)
    if (version[0] === 20) return { path, version }
  }
  return undefined
}

/** Whether `engines` of a package, `>=MAJOR.MINOR`, admits the oldest Node.js. */
export function admitsOldestNode(engines: string): boolean {
  const [major, minor = 0] = engines.replace('>=', '').split('.').map(Number)
  const [oldMajor, oldMinor] = oldestNode?.version ?? []
  return oldMajor !== undefined && (oldMajor > major! || (oldMajor === major && oldMinor! >= minor))
}

/** Reads the store that the example of the engine's README left, on a Node.js that cannot write one. */
const READ_STORE = `
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
const reader = openStateEngineReader({ path: './state' })
console.log(reader.at().get(new TextEncoder().encode('balance of alice'))[0])
await reader.close()
try { openStateEngine({ path: './state' }) } catch (error) { console.log(error.code, error.message) }
`

/** Checks that an example prints the texts of its comments on the oldest Node.js. Returns the fault. */
export function oldestNodeFault(project: string, example: string): Promise<string | undefined> {
  const program = join(project, 'on-oldest-node.mjs')
  writeFileSync(program, stripTypeScriptTypes(example))
  return runOnOldestNode(project, program, printedTexts(example))
}

export function readerFault(project: string): Promise<string | undefined> {
  const program = join(project, 'read-store.mjs')
  writeFileSync(program, READ_STORE)
  return runOnOldestNode(project, program, ['2', 'store_failed writing to a store needs Node.js 22.13 or newer'])
}

async function runOnOldestNode(
  project: string,
  program: string,
  expected: readonly string[],
): Promise<string | undefined> {
  return faultOfRun(await runWithin(project, oldestNode!.path, [program]), expected)
}
