// Builds one static site in dist/site: the reference of all public packages, and the pages of docs/. It is searched
// offline. Fails if an export has no sentence or a link is broken. typedoc finds the entry points of built packages
// only.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, type TypeDocOptions } from 'typedoc'
import { findBrokenLinks } from './find-broken-links.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const SITE = join(ROOT, 'dist/site')

interface Manifest {
  readonly private?: boolean
  readonly repository?: { readonly url: string }
}

const repository = readManifest('.').repository!.url.replace(/^git\+|\.git$/g, '')
const folders = globSync('packages/*/package.json', { cwd: ROOT })
  .map((path) => dirname(path))
  .filter((folder) => readManifest(folder).private !== true)
  .toSorted()

const sources: Partial<TypeDocOptions> = {
  basePath: ROOT,
  disableGit: true,
  gitRevision: 'main',
  sourceLinkTemplate: `${repository}/blob/main/{path}#L{line}`,
}
/** Every export and every method must have a sentence, and links in comments and pages must not be broken. */
const strictness: Partial<TypeDocOptions> = {
  requiredToBeDocumented: ['Variable', 'Function', 'Class', 'Interface', 'TypeAlias', 'Method'],
  validation: { notDocumented: true, invalidLink: true, notExported: false, invalidPath: true },
}
const app = await Application.bootstrapWithPlugins({
  ...sources,
  name: 'Ledger State',
  out: SITE,
  entryPointStrategy: 'packages',
  entryPoints: folders.map((folder) => join(ROOT, folder)),
  packageOptions: {
    ...sources,
    tsconfig: 'tsconfig.json',
    excludeExternals: true,
    // The type check of the packages is TypeScript 7's.
    skipErrorChecking: true,
    ...strictness,
  },
  readme: join(ROOT, 'README.md'),
  projectDocuments: [
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'docs/*.md',
    'docs/lab/*.md',
    'docs/sources/*.md',
  ].map((path) => join(ROOT, path)),
  navigationLinks: { Repository: repository },
  highlightLanguages: ['bash', 'json', 'sql', 'typescript'],
  searchInComments: true,
  searchInDocuments: true,
  ...strictness,
  logLevel: 'Warn',
})
const project = await app.convert()
if (!project) throw new Error('typedoc cannot read the packages')
app.validate(project)
await app.generateOutputs(project)
const broken = findBrokenLinks(SITE)
for (const line of broken) console.log(line)
console.log(`${app.logger.errorCount + app.logger.warningCount} faults of comments, ${broken.length} broken links`)
console.log(`the site is in ${SITE}: open index.html`)
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() || broken.length > 0 ? 1 : 0

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest
}
