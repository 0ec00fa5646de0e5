// Checks that dependency-cruiser and knip cannot do: manifests have the dependencies of the table of packages in
// ARCHITECTURE.md, READMEs list every folder of their package, and modules have no mutable state except where the page
// lists it. Files and sections that documents, comments and URLs name exist. READMEs list the error codes of their package with
// their fields. Rows of tables have at most 200 columns. Only one function renames files. The last line is
// `N passed, M failed`.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkErrorTables } from './architecture/error-tables.ts'
import { layerCircle } from './architecture/layers.ts'
import { changedNames, importsOf } from './architecture/module-state.ts'
import { namesInComments, namesInDocument, namesInUrls } from './architecture/named-files.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const SCOPE = '@ledger-state/'

const violations: string[] = []
let passed = 0

function expect(holds: boolean, violation: string): void {
  if (holds) passed++
  else violations.push(violation)
}

function expectSame(there: Iterable<string>, named: Iterable<string>, what: string, where: string): void {
  const [isThere, isNamed] = [new Set(there), new Set(named)]
  for (const one of new Set([...isThere, ...isNamed])) {
    expect(isNamed.has(one), `${what}: ${one} is not named in ${where}`)
    expect(isThere.has(one), `${what}: ${where} names ${one}, which is not among them`)
  }
}

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The rows of the table of packages: name, and dependencies in the workspace. */
function allowedDependencies(): Map<string, readonly string[]> {
  const rows = [...page.matchAll(/^\| `([a-z/-]+)` *\|.*\| *([^|]*?) *\|$/gm)]
  return new Map(rows.map(([, name, dependsOn]) => [name!, dependsOn!.match(/[a-z-]+/g) ?? []]))
}

function checkPackages(): void {
  const allowed = allowedDependencies()
  for (const path of globSync('{packages,apps}/*/package.json', { cwd: root }).toSorted()) {
    const folder = dirname(path).replaceAll('\\', '/')
    const name = folder.replace('packages/', '')
    const row = allowed.get(name)
    expect(row !== undefined, `${folder} has no row in the table of ARCHITECTURE.md`)
    const { dependencies = {} } = JSON.parse(readText(path)) as { dependencies?: Record<string, string> }
    const inManifest = Object.keys(dependencies).flatMap((one) =>
      one.startsWith(SCOPE) ? [one.slice(SCOPE.length)] : [],
    )
    const imported = new Set(sourcesIn(`${folder}/src`).flatMap((one) => packagesImportedBy(readText(one))))
    for (const one of inManifest)
      expect(imported.has(one), `${folder}/package.json names ${one}, which its sources do not import`)
    if (row && !row.includes('any'))
      expectSame(inManifest, row, `dependencies of ${folder}/package.json`, 'its row in ARCHITECTURE.md')
  }
}

/** The packages of the workspace that a module imports, by their short names. */
function packagesImportedBy(text: string): string[] {
  return [...text.matchAll(/(?:from|import\(|^import) ?'@ledger-state\/([a-z-]+)/gm)].map(([, name]) => name!)
}

/** Modules in a folder, without their tests. */
function sourcesIn(folder: string): string[] {
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }).filter((path) => !/\.test\.tsx?$/.test(path))
}

/** A package with more folders than this lists them. */
const FEW_FOLDERS = 5

/** The README of a package with several folders lists them: rows of `src/FOLDER/`. */
function checkRooms(): void {
  for (const source of sourceFolders()) {
    const readme = join(dirname(source), 'README.md')
    const folders = new Set(sourcesIn(`${source}/*`).map((path) => path.slice(source.length + 1).split('/')[0]!))
    const rows = existsSync(join(root, readme)) ? [...readText(readme).matchAll(/^\| `src\/(\w[\w-]*)\/`/gm)] : []
    const named = rows.map(([, folder]) => folder!)
    if (named.length > 0) expectSame(folders, named, `folders of ${source}`, readme)
    else expect(folders.size <= FEW_FOLDERS, `${source} has ${folders.size} folders, and ${readme} lists none`)
  }
}

/** No folder imports one above it, neither directly nor through a module outside of folders. */
function checkLayers(): void {
  for (const source of sourceFolders()) {
    const modules = new Map(sourcesIn(source).map((path) => [path.replaceAll('\\', '/'), readText(path)]))
    const circle = layerCircle(source, modules)
    expect(circle === undefined, `${source} has a circle of folders: ${circle?.join(' → ')}`)
  }
}

function sourceFolders(): string[] {
  return globSync('{packages,apps}/*/src', { cwd: root })
    .toSorted()
    .map((path) => path.replaceAll('\\', '/'))
}

/**
 * No module has state that changes, except those that the page lists, and main modules, which no other module imports.
 */
function checkModuleState(): void {
  const section = page.slice(page.indexOf('## Exceptions'))
  const listed = [...section.matchAll(/`([\w-]+\/[\w./-]+)`/g)].map(([, path]) => path!)
  const paths = sourcesIn('{packages,apps}/*/src')
  const imported = new Set(paths.flatMap((path) => importsOf(path, readText(path))))
  for (const path of paths.toSorted()) {
    const isListed = listed.some((one) => path.startsWith(one) || path.startsWith(`packages/${one}`))
    if (isListed || !imported.has(path.replace(/\.tsx?$/, ''))) continue
    const names = changedNames(readText(path))
    expect(names.length === 0, `${path} has state of a module that changes: ${names.join(', ')}`)
  }
}

const OF_OTHERS = /(?:^|\/)(?:node_modules|dist)(?:\/|$)/
/** A change log names files of its release. */
const PAST = /CHANGELOG\.md$/
/** Placeholders, files that a script writes, and files outside of the repository. */
const NOT_OURS = /^(?:node-|portable-)?x\.|^generated\/|^\.\.\//
/** A placeholder, and files that a build makes. */
const NOT_IN_SOURCES = /^\.\/x\.|\/(?:dist|generated)(?:\/|$)/

/** Files that documents and comments name are there: by a path in the repository, or by its end. */
function checkNamedFiles(): void {
  const found = globSync(['*.md', '{packages,apps,docs,scripts,examples}/**/*.{ts,tsx,md,mjs}'], {
    cwd: root,
    exclude: (path) => OF_OTHERS.test(path),
  })
  const files = found.map((path) => path.replaceAll('\\', '/'))
  const ends = new Set(files.flatMap((path) => path.split('/').map((_, from, parts) => parts.slice(from).join('/'))))
  for (const path of files.filter((one) => !PAST.test(one))) {
    const names = path.endsWith('.md') ? namesInDocument(readText(path)) : namesInComments(readText(path))
    for (const name of names) {
      if (!NOT_OURS.test(name)) expect(ends.has(name), `${path} names ${name}, which is not there`)
    }
    for (const name of path.endsWith('.md') ? [] : namesInUrls(readText(path))) {
      if (NOT_IN_SOURCES.test(name)) continue
      const found = [name, name.replace(/\.js$/, '.ts')].some((one) => existsSync(join(root, dirname(path), one)))
      expect(found, `${path} names ${name}, which is not there`)
    }
  }
}

/** Columns of the longest row of a table. */
const MOST_COLUMNS = 200

/** Tables can be read in a terminal: a longer text belongs below its table. */
function checkTables(): void {
  const paths = globSync(['*.md', '{packages,apps,docs,examples}/**/*.md'], {
    cwd: root,
    exclude: (path) => OF_OTHERS.test(path),
  })
  for (const path of paths) {
    for (const [at, line] of readText(path).split('\n').entries()) {
      if (!line.startsWith('|')) continue
      expect(line.length <= MOST_COLUMNS, `${path}:${at + 1}: a row of a table has more than ${MOST_COLUMNS} columns`)
    }
  }
}

/** Comments cite pages of docs/ by the headings of their sections. */
function checkCitations(): void {
  for (const path of globSync('{packages,apps}/*/{src,testing}/**/*.ts', { cwd: root })) {
    const text = readText(path).replaceAll(/\n\s*(?:\*|\/\/)\s*/g, ' ')
    for (const [, page, heading] of text.matchAll(/(docs\/[\w-]+\.md), (?:section )?"([^"]+)"/g)) {
      const headings = existsSync(join(root, page!)) ? readText(page!).match(/^#+ .+$/gm) : []
      const isThere = headings?.some((one) => one.replace(/^#+ /, '') === heading) ?? false
      expect(isThere, `${path} cites the section "${heading}" of ${page}, which is not there`)
    }
  }
}

/**
 * Sources that rename by themselves: the one function of durable renames, a cache whose files have a digest, and a
 * writer without durability.
 */
const MAY_RENAME = [
  'packages/core/src/files.ts',
  'packages/feed/src/buckets/object-cache.ts',
  'packages/state-engine/src/segments/segment-writer.ts',
]

/** A file gets its name by the function that syncs it first: a loss of power leaves no name without its content. */
function checkRenames(): void {
  for (const path of sourcesIn('{packages,apps}/*/src')) {
    if (path.startsWith('packages/testing/') || MAY_RENAME.includes(path)) continue
    const renames = /import \{[^}]*\brename(?:Sync)?\b[^}]*\} from 'node:fs|\bfs\.rename/.test(readText(path))
    expect(!renames, `${path} renames a file by itself: moveDurably of core/src/files.ts syncs it first`)
  }
}

checkPackages()
checkRenames()
checkErrorTables(root, expect)
checkRooms()
checkLayers()
checkModuleState()
checkNamedFiles()
checkTables()
checkCitations()
for (const violation of violations) console.log(violation)
console.log(`${passed} passed, ${violations.length} failed`)
process.exitCode = violations.length > 0 ? 1 : 0
