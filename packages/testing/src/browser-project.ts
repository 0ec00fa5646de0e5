import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { playwright } from '@vitest/browser-playwright'
import { CHROMIUM_ARGUMENTS, chromiumPath } from './chromium.ts'
import { testSeed } from './random.ts'
import { sampleFiles } from './sample-files.ts'
import { testScale } from './test-scale.ts'

/** Imports that need Node: its own modules and globals, and the packages that use them. */
const NEEDS_NODE = /from '(node:|@chainsafe\/|@ledger-state\/(testing|feed|state-engine)\b)|\bBuffer\.|\bprocess\./

/**
 * Whether a file, or one of the package that it imports, needs Node. Imports that a condition of package.json chooses
 * are not followed.
 */
function needsNode(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  if (NEEDS_NODE.test(text)) return true
  const imported = [...text.matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, path]) => path!.replace(/\.js$/, '.ts'))
  return imported.some((path) => needsNode(join(file, '..', path), seen))
}

/** Files that need nothing of Node; a third of them if `TEST_SCALE` is below 1, as each loads its sources again. */
function browserTests(): string[] {
  const files = globSync('src/**/*.test.ts').filter((file) => !needsNode(file))
  return testScale() < 1 ? sampleFiles(files, 3) : files
}

/**
 * Project of the tests of a package that need nothing of Node. They run in Chromium out of an npm package, so nothing
 * is installed by hand.
 */
export async function browserProject(conditions: string[]) {
  return {
    resolve: { conditions },
    test: {
      name: 'browser',
      include: browserTests(),
      setupFiles: [fileURLToPath(new URL('browser-property-seed.ts', import.meta.url))],
      provide: { propertySeed: process.env.TEST_SEED === undefined ? undefined : testSeed() },
      passWithNoTests: true,
      testTimeout: 60_000,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({
          launchOptions: {
            executablePath: await chromiumPath(),
            args: [...CHROMIUM_ARGUMENTS],
          },
        }),
        instances: [{ browser: 'chromium' as const }],
      },
    },
  }
}
