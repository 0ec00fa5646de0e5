import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The module of a thread; a TypeScript file if the importer is one, as `Worker` passes on the options of the process
 * that loads it.
 * @param name of the file without its ending, in the folder of `importer`
 * @param importer URL of the module that loads it; undefined in a bundle of CommonJS, where modules have none
 * @returns undefined in a bundle that lacks the file
 */
export function threadModule(name: string, importer: string | undefined): URL | undefined {
  if (!importer?.startsWith('file:')) return undefined
  const file = new URL(`./${name}${importer.endsWith('.ts') ? '.ts' : '.js'}`, importer)
  return existsSync(fileURLToPath(file)) ? file : undefined
}
