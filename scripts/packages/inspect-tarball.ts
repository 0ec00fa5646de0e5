import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { type PackedPackage, ROOT, readManifest } from './pack-packages.ts'
import type { Tally } from './tally.ts'

/** Address of the repository. The package.json of the root is the only place that has it. */
const REPOSITORY = readManifest('').repository!.url.replace(/^git\+|\.git$/g, '')

/**
 * Checks that a tarball has everything that npm, bundlers, TypeScript and readers expect of a package. `work` is the
 * folder for the unpacked files.
 */
export async function inspectTarball(packed: PackedPackage, work: string, tally: Tally): Promise<void> {
  const folder = join(work, packed.manifest.name)
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xzf', packed.tarball, '-C', folder, '--strip-components=1'])
  const faults = [
    ...findMetadataFaults(packed),
    ...(await findPublintFaults(packed, folder)),
    ...(await findTypeFaults(packed)),
    ...findFileFaults(packed, folder),
    ...findReadmeFaults(packed, folder),
  ]
  tally.add(packed.manifest.name, faults.length === 0 ? undefined : `\n  ${faults.join('\n  ')}`)
}

function findMetadataFaults({ manifest, folder }: PackedPackage): string[] {
  const expected: Partial<Record<keyof typeof manifest, unknown>> = {
    homepage: `${REPOSITORY}/tree/main/${folder}#readme`,
    bugs: `${REPOSITORY}/issues`,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: folder },
  }
  const faults = Object.entries(expected)
    .filter(([key, value]) => JSON.stringify(manifest[key as keyof typeof manifest]) !== JSON.stringify(value))
    .map(([key, value]) => `package.json: ${key} is not ${JSON.stringify(value)}`)
  if (!manifest.keywords?.length) faults.push('package.json: has no keywords')
  for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
    if (name.startsWith('@ledger-state/') && !/^\^\d/.test(range)) faults.push(`${name} is wanted as ${range}, not ^`)
  }
  return faults
}

async function findPublintFaults({ tarball }: PackedPackage, folder: string): Promise<string[]> {
  const content = readFileSync(tarball)
  const buffer = content.buffer.slice(content.byteOffset, content.byteOffset + content.length) as ArrayBuffer
  const { messages } = await publint({ pack: { tarball: buffer }, strict: true })
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
  return messages.map((message) => `publint: ${formatMessage(message, manifest) ?? message.code}`)
}

/**
 * Finds faults of types by the profile `esm-only` of `attw`, which leaves out CommonJS and the resolution before Node
 * 12.
 */
async function findTypeFaults({ tarball, manifest }: PackedPackage): Promise<string[]> {
  if (!manifest.exports) return []
  const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
  if (!result.types) return ['are the types wrong: it has no types']
  return result.problems
    .filter((problem) => !('resolutionKind' in problem) || /esm|bundler/.test(problem.resolutionKind))
    .map((problem) => `are the types wrong: ${JSON.stringify(problem)}`)
}

function findFileFaults({ files, manifest }: PackedPackage, folder: string): string[] {
  const faults = ['LICENSE', 'README.md', 'CHANGELOG.md']
    .filter((name) => !files.includes(name))
    .map((name) => `has no ${name}`)
  for (const path of files.filter((one) => /^dist\/(?!explorer-page).*\.(js|d\.ts)$/.test(one))) {
    const source = path.replace(/^dist/, 'src').replace(/(\.d\.ts|\.js)$/, '.ts')
    // A program is a bundle of the sources of all packages.
    if (manifest.exports && !files.includes(source)) {
      faults.push(`${path} is of no source: remove dist and build again`)
    }
    if (!files.includes(`${path}.map`)) faults.push(`${path} has no source map`)
  }
  const needsNode = files.some(
    (path) =>
      path.endsWith('.d.ts') &&
      manifest.exports &&
      /^import .*'node:|\bNodeJS\./m.test(readFileSync(join(folder, path), 'utf8')),
  )
  const hasNode = manifest.peerDependencies?.['@types/node'] !== undefined
  if (needsNode && !hasNode) faults.push('its types name types of Node, but @types/node is not a peer')
  if (hasNode && !needsNode) faults.push('@types/node is a peer, but its types name no types of Node')
  return faults
}

/**
 * Finds wrong links in a README. They must lead to files of the tarball or to whole addresses; addresses in the
 * repository must be those of files that it has.
 */
function findReadmeFaults(packed: PackedPackage, folder: string): string[] {
  const path = join(folder, 'README.md')
  if (!existsSync(path)) return []
  const text = readFileSync(path, 'utf8')
  const faults: string[] = []
  for (const [, target] of text.replaceAll(/^```.*?^```$/gms, '').matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)) {
    const inRepository = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/(.*)$`).exec(target!)?.[1]
    if (inRepository !== undefined && !existsSync(join(ROOT, inRepository))) {
      faults.push(`README.md: ${target} is not in the repository`)
    } else if (!/^https?:/.test(target!) && !packed.files.includes(normalize(join(dirname('README.md'), target!)))) {
      faults.push(`README.md: ${target} leaves the tarball`)
    }
  }
  for (const section of ['## Install', '## API', '## Limits']) {
    if (packed.manifest.exports && !text.includes(`\n${section}\n`))
      faults.push(`README.md: has no section "${section}"`)
  }
  return faults
}
