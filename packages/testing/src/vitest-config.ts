import { accessSync, constants, globSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { sampleFiles } from './sample-files.ts'
import { isSlowRun } from './slow-run.ts'
import { testScale } from './test-scale.ts'

/** Condition under which the packages of the workspace export their sources, so that tests never see a stale build. */
const SOURCE_CONDITION = '@ledger-state/source'
const CONDITIONS = [SOURCE_CONDITION, 'node', 'default']
const BROWSER_CONDITIONS = [SOURCE_CONDITION, 'browser', 'module', 'import', 'default']
/** Condition that chooses the portable implementations, even on Node. */
const PORTABLE_CONDITION = '@ledger-state/portable'

const FAST_TESTS = 'src/**/*.test.ts'
/** Files of fast tests that take more than about 4 s on an idle core: an eighth of the files, and three quarters of the time. */
const HEAVY_TESTS = 'src/**/*.heavy.test.ts'
/** Rounds of crashes, long histories, whole programs: only the slow run has them. */
const SLOW_TESTS = 'src/**/*.slow.test.ts'
/** Text in a test file that has more rounds, or more tests, in the slow run. */
const SLOW_MARK = '@ledger-state/testing/slow-run'
/** A run that sets `TEST_SCALE` makes the fast tests and then the slow ones. */
const HAS_BOTH_RUNS = process.env.TEST_SCALE !== undefined
/** Whether this run may have no file of a package. */
const MAY_HAVE_NONE = isSlowRun || HAS_BOTH_RUNS

/**
 * Time limit of a test: longer than all of its patient waits together. Each wait names the missing event. A slow test
 * has many of them, and other packages' tests run at the same time.
 */
const TIMEOUT_MS = isSlowRun ? 600_000 : 60_000

/**
 * Files that run at the same time, even on two cores: fast tests spend half of their time waiting for sockets, files
 * and processes.
 */
const FAST_WORKERS = 2

const MEMORY_FOLDER = '/dev/shm'
/** Free space that is enough for temporary files: far more than the tests of a package need at one time. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * Folder for temporary files: in memory if there is room, because most of the time would pass in syncing files, and the
 * tests are not about the disk.
 */
function temporaryRoot(): string {
  try {
    accessSync(MEMORY_FOLDER, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY_FOLDER : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Files of this package that match a pattern, with slashes. */
function filesOf(pattern: string, exclude: readonly string[] = []): string[] {
  return globSync(pattern, { exclude }).map((file) => file.replaceAll('\\', '/'))
}

/** Files of fast tests that have more rounds, or more tests, in the slow run. */
function filesWithBothRuns(): string[] {
  return filesOf(FAST_TESTS, [SLOW_TESTS]).filter((file) => readFileSync(file, 'utf8').includes(SLOW_MARK))
}

/** Files of the slow run of this package; a share of them if `TEST_SCALE` is below 1. */
function slowTests(): string[] {
  return sampleFiles([...filesOf(SLOW_TESTS), ...filesWithBothRuns()], Math.max(1, Math.round(1 / testScale())))
}

/** Files that a fast run with a `TEST_SCALE` below 1 leaves out: seven of eight that are heavy or have a slow run. */
function leftToOtherSeeds(): string[] {
  if (testScale() >= 1) return []
  const files = [...filesOf(HEAVY_TESTS), ...filesWithBothRuns()]
  const chosen = new Set(sampleFiles(files, 8))
  return files.filter((file) => !chosen.has(file))
}

/**
 * Files that a fast run leaves out because the slow run that follows has all their tests, with more rounds.
 */
function leftToSlowRun(): string[] {
  return HAS_BOTH_RUNS ? slowTests() : []
}

function configFor(conditions: string[]) {
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      include: isSlowRun ? slowTests() : [FAST_TESTS],
      setupFiles: [fileURLToPath(new URL('property-seed.ts', import.meta.url))],
      exclude: isSlowRun ? [] : [SLOW_TESTS, ...leftToSlowRun(), ...leftToOtherSeeds()],
      passWithNoTests: MAY_HAVE_NONE,
      ...(!isSlowRun && { maxWorkers: FAST_WORKERS }),
      env: { TMPDIR: process.env.TMPDIR ?? temporaryRoot() },
      testTimeout: TIMEOUT_MS,
      hookTimeout: TIMEOUT_MS,
    },
  } satisfies ViteUserConfig
}

/** The configuration of every package. Tests are next to the sources. */
export const vitestConfig = defineConfig(configFor(CONDITIONS))

type Runtime = 'node' | 'portable'

/**
 * Files that this runtime leaves out if `TEST_SCALE` is below 1: each file of fast tests then runs on one of the two
 * runtimes, which `TEST_SEED` chooses.
 */
function leftToOther(runtime: Runtime): string[] {
  if (testScale() >= 1) return []
  const files = filesOf(FAST_TESTS, [SLOW_TESTS])
  const onNode = new Set(sampleFiles(files, 2))
  return files.filter((file) => onNode.has(file) !== (runtime === 'node'))
}

function project(name: Runtime, conditions: string[]) {
  const config = configFor(conditions)
  const env = { ...config.test.env, TESTED_RUNTIME: name }
  const exclude = [...config.test.exclude, ...leftToOther(name)]
  // Loading the sources takes a third of the time: each worker does it once, and not for each file.
  return { ...config, test: { ...config.test, name, env, exclude, isolate: false } }
}

/**
 * Configuration of a package that runs on any runtime: every test runs with the implementations for Node, and with the
 * portable ones. The slow run adds a browser. A `TEST_SCALE` below 1 leaves one of the first two out for each file, and two of
 * three files in the browser.
 */
export const portableVitestConfig = defineConfig(async () => {
  const ofNode = [project('node', CONDITIONS), project('portable', [PORTABLE_CONDITION, ...CONDITIONS])]
  const ofBrowser = isSlowRun ? [await (await import('./browser-project.ts')).browserProject(BROWSER_CONDITIONS)] : []
  return { test: { passWithNoTests: MAY_HAVE_NONE, projects: [...ofNode, ...ofBrowser] } }
})
