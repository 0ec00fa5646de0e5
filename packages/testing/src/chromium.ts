// Finds Chromium in an npm package, so nothing is installed by hand.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import chromium from '@sparticuz/chromium'

const PACKAGE = createRequire(import.meta.url).resolve('@sparticuz/chromium')

/**
 * Arguments of the package that are left out: `--single-process`, with which Chromium ends when its first page is closed,
 * and two that turn off checks of a browser that users have.
 */
const REFUSED_ARGUMENTS = ['--single-process', '--disable-web-security', '--allow-running-insecure-content']

export const CHROMIUM_ARGUMENTS: readonly string[] = chromium.args.filter(
  (argument) => !REFUSED_ARGUMENTS.includes(argument),
)

/**
 * Path of the executable. The package unpacks it into the folder of temporary files, and takes a half-written file for
 * a whole one. So it unpacks into a separate folder, which gets its name once it is complete: several processes may ask
 * at the same time.
 */
export async function chromiumPath(): Promise<string> {
  const folder = join(tmpdir(), `ledger-state-chromium-${packageVersion()}`)
  if (!existsSync(folder)) await unpackTo(folder)
  return join(folder, 'chromium')
}

function packageVersion(): string {
  const manifest = readFileSync(join(dirname(PACKAGE), '../package.json'), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}

async function unpackTo(folder: string): Promise<void> {
  const unpacked = mkdtempSync(`${folder}-`)
  const script = `import chromium from ${JSON.stringify(pathToFileURL(PACKAGE))}; await chromium.executablePath()`
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, NODE_OPTIONS: '', TMPDIR: unpacked },
    })
    renameSync(unpacked, folder)
  } catch (error) {
    rmSync(unpacked, { recursive: true, force: true })
    // Another process may have unpacked it first.
    if (!existsSync(folder)) throw error
  }
}
