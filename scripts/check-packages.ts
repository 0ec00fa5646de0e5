// Packs each public package, installs the tarball into an empty project of its own, and runs the `ts` blocks of its README
// there: a line that prints must print what its comment says. What runs on the oldest Node.js runs there, too; declarations
// compile with `skipLibCheck: false`; the packages that run everywhere are bundled for a browser.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  admitsOldestNode,
  bundleFault,
  expectedOutput,
  isPortable,
  oldestNode,
  oldestNodeFault,
  readerFault,
  typesFault,
} from './check-consumer.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'packages-'))

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly engines: { readonly node: string }
  readonly dependencies?: Readonly<Record<string, string>>
}

const packages = new Map<string, { folder: string; manifest: Manifest; tarball: string }>()
for (const folder of readdirSync(`${root}/packages`)) {
  const manifest = JSON.parse(readFileSync(`${root}/packages/${folder}/package.json`, 'utf8')) as Manifest
  if (manifest.private) continue
  const tarball = join(work, `${folder}.tgz`)
  execFileSync('pnpm', ['pack', '--out', tarball], { cwd: `${root}/packages/${folder}`, stdio: 'ignore' })
  packages.set(manifest.name, { folder, manifest, tarball })
}

/** Packages of ours that the named ones need, themselves included. */
function closure(names: Iterable<string>, found = new Set<string>()): Set<string> {
  for (const name of names) {
    const one = packages.get(name)
    if (!one || found.has(name)) continue
    found.add(name)
    closure(Object.keys(one.manifest.dependencies ?? {}), found)
  }
  return found
}

let passed = 0
let failed = 0

function report(what: string, fault: string | undefined): void {
  if (fault === undefined) passed++
  else failed++
  console.log(`${what}: ${fault ?? 'ok'}`)
}

if (!oldestNode) console.log('what runs on Node.js 20 is not tried there: OLDEST_NODE names none')
/** All packages, or those whose folders are given. */
const chosen = process.argv.slice(2)
for (const [name, { folder, manifest }] of packages) {
  if (chosen.length > 0 && !chosen.includes(folder)) continue
  const project = join(work, `try-${folder}`)
  mkdirSync(project)
  const readme = readFileSync(`${root}/packages/${folder}/README.md`, 'utf8')
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example!)
  if (examples.length === 0) throw new Error(`the README of ${name} has no example`)
  const imported = [...examples.join('').matchAll(/from '(@ledger-state\/[a-z-]+)'/g)].map(([, one]) => one!)
  const dependencies = Object.fromEntries(
    [...closure([name, ...imported])].map((one) => [one, `file:${packages.get(one)!.tarball}`]),
  )
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'try', private: true, type: 'module', dependencies }),
  )
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    cwd: project,
    stdio: 'inherit',
  })
  for (const [at, example] of examples.entries()) {
    const file = `example-${at + 1}.ts`
    writeFileSync(join(project, file), example)
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: project, encoding: 'utf8' })
    const missing = expectedOutput(example).find((text) => !stdout.includes(text))
    const right = status === 0 && missing === undefined
    report(`${name}, ${file}`, right ? undefined : `status ${status}, missing ${missing}\n${stdout}${stderr}`)
    if (!admitsOldestNode(manifest.engines.node)) continue
    report(`${name}, ${file}, on Node.js ${oldestNode!.version.join('.')}`, oldestNodeFault(project, example))
  }
  report(`${name}, types`, typesFault(project, folder))
  if (isPortable(folder)) report(`${name}, bundle`, await bundleFault(project, folder))
  if (oldestNode && folder === 'state-engine') report(`${name}, reading on Node.js 20`, readerFault(project))
}
rmSync(work, { recursive: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
