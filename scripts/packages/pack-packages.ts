import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Root of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly homepage?: string
  readonly bugs?: string
  readonly keywords?: readonly string[]
  readonly repository?: { readonly url: string; readonly directory?: string }
  readonly engines: { readonly node: string }
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface PackedPackage {
  /** Path of the package's folder from the root of the repository, such as `packages/core`. */
  readonly folder: string
  /** Manifest of the tarball, with the versions of its siblings. */
  readonly manifest: Manifest
  /** Path of the tarball. */
  readonly tarball: string
  /** Files of the tarball, without the `package/` before each. */
  readonly files: readonly string[]
  readonly bytes: number
  /** Hash of the tarball in the form of registries, `sha512-…`. */
  readonly integrity: string
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest
}

/** Packs every package that is not private, as a release does. Packages that others depend on come first. */
export async function packPackages(into: string): Promise<PackedPackage[]> {
  const packed = await Promise.all(publicFolders().map((folder) => packPackage(folder, into)))
  return inOrderOfDependencies(packed)
}

/** Packs our packages that a program needs, with all their dependencies. */
export async function packNeeded(names: readonly string[], into: string): Promise<PackedPackage[]> {
  const folders = new Map(publicFolders().map((folder) => [readManifest(folder).name, folder]))
  const needed = new Set(names.filter((name) => folders.has(name)))
  for (const name of needed) {
    for (const other of Object.keys(readManifest(folders.get(name)!).dependencies ?? {})) {
      if (folders.has(other)) needed.add(other)
    }
  }
  return await Promise.all([...needed].map((name) => packPackage(folders.get(name)!, into)))
}

function publicFolders(): string[] {
  return globSync('{packages,apps}/*/package.json', { cwd: ROOT })
    .map((path) => dirname(path).replaceAll('\\', '/'))
    .filter((folder) => readManifest(folder).private !== true)
    .toSorted()
}

async function packPackage(folder: string, into: string): Promise<PackedPackage> {
  const { name, version } = readManifest(folder)
  const tarball = join(into, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  await run('pnpm', ['pack', '--out', tarball], { cwd: join(ROOT, folder) })
  const { stdout: listing } = await run('tar', ['-tzf', tarball])
  const { stdout: manifest } = await run('tar', ['-xzOf', tarball, 'package/package.json'])
  const content = readFileSync(tarball)
  return {
    folder,
    manifest: JSON.parse(manifest) as Manifest,
    tarball,
    files: listing
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, '')),
    bytes: content.length,
    integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  }
}

function inOrderOfDependencies(packed: readonly PackedPackage[]): PackedPackage[] {
  const ordered = new Set<PackedPackage>()
  const add = (one: PackedPackage): void => {
    for (const name of Object.keys(one.manifest.dependencies ?? {})) {
      const sibling = packed.find(({ manifest }) => manifest.name === name)
      if (sibling && !ordered.has(sibling)) add(sibling)
    }
    ordered.add(one)
  }
  for (const one of packed) add(one)
  return [...ordered]
}
