import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './pack-packages.ts'

/** The names of the programs of `examples/`. */
export function listExamples(): string[] {
  const entries = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
