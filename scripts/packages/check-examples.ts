import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { openBrowser } from '@ledger-state/explorer/testing/browser'
import type { Ended } from '@ledger-state/testing/run-to-end'
import type { LocalRegistry } from './local-registry.ts'
import { type Manifest, type PackedPackage, ROOT } from './pack-packages.ts'
import { faultOfRun, installProject, printedTexts, runWithin } from './project.ts'
import type { Tally } from './tally.ts'

const TSC = join(ROOT, 'node_modules/.bin/tsc')
const COMPILER_OPTIONS = {
  target: 'es2024',
  lib: ['es2024', 'dom'],
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
}

/**
 * Follows the page of a program of `examples/`: its command must print the `text` block of the page. Then it installs a
 * copy, compiles it, and runs it on the oldest Node.js that its manifest names. A program with a page is built, and its
 * page must show that block in a browser.
 */
export async function checkExample(name: string, registry: LocalRegistry, work: string, tally: Tally): Promise<void> {
  const project = join(work, 'examples', name)
  cpSync(join(ROOT, 'examples', name), project, {
    recursive: true,
    filter: (path) => basename(path) !== 'node_modules',
  })
  const page = readFileSync(join(project, 'README.md'), 'utf8')
  const command = /^```sh\n(.*?)\n```$/ms.exec(page)?.[1]
  const expected = /^```text\n(.*?)^```$/ms.exec(page)?.[1]
  const isPage = existsSync(join(project, 'index.html'))
  tally.add(
    `examples/${name}: command`,
    command === `npx -y pnpm example ${name}` ? undefined : `its README has the command ${command}`,
  )
  if (!isPage) {
    const followed = await runWithin(ROOT, 'bash', ['-c', command ?? 'false'])
    tally.add(`examples/${name}: as its README says`, faultOfPrint(followed, expected))
  }
  await installProject(project, registry)
  const fault = await compileFault(project)
  tally.add(`examples/${name}`, fault ?? faultOfPrint(await start(project, isPage), expected))
}

/** Runs a program on the oldest Node.js that it names, or shows its page. */
async function start(project: string, isPage: boolean): Promise<Ended> {
  if (!isPage) {
    const { engines } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as Manifest
    const oldest = /^>=(\d+\.\d+)$/.exec(engines.node)![1]!
    return await runWithin(project, 'npx', ['-y', `--package=node@${oldest}`, 'node', 'main.ts'])
  }
  const built = await runWithin(project, 'npm', ['run', 'build', '--silent'])
  if (built.status !== 0) return built
  if (!existsSync(join(project, 'node.ts'))) return await showPage(join(project, 'dist'), '')
  // A node that the page asks: its first line has the parameters of the page.
  const node = spawn(process.execPath, ['node.ts'], { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = (await once(createInterface(node.stdout), 'line')) as [string]
    return await showPage(join(project, 'dist'), line)
  } finally {
    node.kill()
  }
}

/** Media types of the files of a page. */
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

/**
 * Opens the built page, with these parameters, in a browser. Its text and its faults are reported like the output of a
 * program. The page is on loopback: a browser does not let another one ask a node there.
 */
async function showPage(folder: string, parameters: string): Promise<Ended> {
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url!, 'http://localhost')
    const type = TYPES[extname(pathname)]
    if (type === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': type }).end(readFileSync(join(folder, pathname)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(`${error.stack}\n`))
    await page.goto(`http://127.0.0.1:${port}/index.html?${parameters}`, { waitUntil: 'load' })
    // A page that asks a node has no text before the answers.
    await page.waitForFunction('document.body.textContent.trim() !== ""')
    return { status: faults.length, stdout: `${(await page.textContent('body'))!.trim()}\n`, stderr: faults.join('') }
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
}

function faultOfPrint({ status, stdout, stderr }: Ended, expected: string | undefined): string | undefined {
  if (expected === undefined) return 'its README has no block "text" with its output'
  return status === 0 && stdout === expected ? undefined : `status ${status}\n${stdout}${stderr}instead of\n${expected}`
}

/**
 * Compiles every `@example` of the packages against the packed packages, and runs it. Each line that prints must print
 * the text of its comment.
 */
export async function checkDocExamples(
  packed: readonly PackedPackage[],
  registry: LocalRegistry,
  work: string,
  tally: Tally,
) {
  const project = join(work, 'doc-examples')
  mkdirSync(project)
  const libraries = packed.filter(({ manifest }) => manifest.exports)
  const dependencies = Object.fromEntries(libraries.map(({ manifest }) => [manifest.name, `^${manifest.version}`]))
  const manifest = {
    name: 'try',
    private: true,
    type: 'module',
    dependencies: { ...dependencies, '@mysten/bcs': '2.1.2' },
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  await installProject(project, registry)
  const examples = findDocExamples()
  for (const { file, text } of examples) writeFileSync(join(project, file), text)
  tally.add('@example: compiled', await compileFault(project))
  for (const { file, source, text } of examples) {
    const ended = await runWithin(project, process.execPath, [file])
    tally.add(`@example of ${source}`, faultOfRun(ended, printedTexts(text)))
  }
}

interface DocExample {
  readonly file: string
  readonly source: string
  readonly text: string
}

function findDocExamples(): DocExample[] {
  return globSync('packages/*/src/**/*.ts', { cwd: ROOT })
    .toSorted()
    .flatMap((source) => {
      const comments = readFileSync(join(ROOT, source), 'utf8').matchAll(/^( *)\/\*\*\n.*?\*\/$/gms)
      return [...comments].flatMap(([comment]) => {
        const lines = comment.replaceAll(/^ *\* ?/gm, '')
        return [...lines.matchAll(/@example.*?\n```ts\n(.*?)^```$/gms)].map(([, text]) => ({ source, text: text! }))
      })
    })
    .map((example, at) => ({ ...example, file: `example-${at + 1}.ts` }))
}

async function compileFault(project: string): Promise<string | undefined> {
  const options = JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts', 'src/*.ts'] })
  writeFileSync(join(project, 'tsconfig.json'), options)
  const { status, stdout } = await runWithin(project, TSC, ['-p', project])
  return status === 0 ? undefined : stdout
}
