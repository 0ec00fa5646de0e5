import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('.', import.meta.url))

/**
 * Folders from the lowest floor up. A file may import from its own folder, from folders of lower floors, and from
 * `errors.ts`.
 */
const FLOORS = [
  ['failpoints'],
  ['bytes'],
  ['lmdb'],
  ['records', 'memtable'],
  ['wal'],
  ['segments'],
  ['compaction'],
  ['read'],
  ['write', 'check', 'snapshot'],
  ['truncation'],
  ['sharing'],
  ['.'],
]

function floorOf(folder: string): number {
  const [top = '.'] = folder.split('/')
  return FLOORS.findIndex((folders) => folders.includes(top || '.'))
}

it('imports between folders point down only', () => {
  const upward: string[] = []
  for (const file of globSync('**/*.ts', { cwd: ROOT, exclude: (name) => name.endsWith('.test.ts') })) {
    const folder = dirname(file)
    for (const [, path] of readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']*)'/g)) {
      if (join(folder, path!) === 'errors.js') continue
      const other = relative(ROOT, dirname(join(ROOT, folder, path!))) || '.'
      const isOwn = other.split('/')[0] === folder.split('/')[0]
      if (!isOwn && floorOf(other) >= floorOf(folder)) upward.push(`${file} imports ${path}`)
    }
  }
  expect(upward).toEqual([])
})
