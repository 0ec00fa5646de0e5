import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Options of `node` for a process that runs TypeScript sources of the workspace, as the tests themselves do, so that no
 * build is needed or stale.
 */
export const SOURCE_OPTIONS: readonly string[] = [
  '--conditions=@ledger-state/source',
  `--import=${pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href}`,
]
