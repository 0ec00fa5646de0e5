import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Ended, runToEnd } from '@ledger-state/testing/run-to-end'
import type { LocalRegistry } from './local-registry.ts'
import { ROOT } from './pack-packages.ts'

const run = promisify(execFile)

/** Longest run of an example or a program, in milliseconds; the slowest needs some seconds. */
const DEADLINE_MS = 120_000

/**
 * Environment for npm in checks: our packages come from the local registry, and the cache is in the checkout, so that
 * the user's cache is not touched.
 */
export function npmEnvironment(registry: LocalRegistry): NodeJS.ProcessEnv {
  return { ...process.env, ...registry.environment, npm_config_cache: join(ROOT, 'node_modules/.cache/npm') }
}

/** Installs the dependencies of a folder's package.json. */
export async function installProject(folder: string, registry: LocalRegistry): Promise<void> {
  nameTarballs(folder, registry)
  const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error']
  await run('npm', words, { cwd: folder, env: npmEnvironment(registry) })
}

/** Has a project depend on the URLs of packed packages that have no scope. */
function nameTarballs(folder: string, { tarballs }: LocalRegistry): void {
  const path = join(folder, 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { dependencies?: Record<string, string> }
  const named = Object.keys(manifest.dependencies ?? {}).filter((name) => name in tarballs)
  if (named.length === 0) return
  const dependencies = { ...manifest.dependencies, ...Object.fromEntries(named.map((name) => [name, tarballs[name]!])) }
  writeFileSync(path, JSON.stringify({ ...manifest, dependencies }))
}

/** Runs a program in a folder to its end, or to the deadline. */
export function runWithin(folder: string, program: string, words: readonly string[]): Promise<Ended> {
  return runToEnd(program, words, { cwd: folder, timeout: DEADLINE_MS })
}

/** Texts that an example must print: the comments after `console.log(…)`. */
export function printedTexts(example: string): string[] {
  return [...example.matchAll(/console\.log\(.*\/\/ (.+)$/gm)].map(([, text]) => text!)
}

/** Reason why a run of an example is wrong; undefined if it is right. */
export function faultOfRun({ status, stdout, stderr }: Ended, expected: readonly string[]): string | undefined {
  const missing = expected.filter((text) => !stdout.includes(text))
  if (status === 0 && missing.length === 0) return undefined
  return `status ${status}, does not print ${JSON.stringify(missing)}\n${stdout}${stderr}`
}
