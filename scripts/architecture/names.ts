import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Names that mean the same in two modules. The two engines stand in for each other, so their functions have the same names. */
const SAME_MEANING = new Set([
  'beginImport',
  'CheckOptions',
  'CheckReport',
  'checkStore',
  'layoutUnknown',
  'toStoreError',
  'unfinishedImport',
])

const DECLARATION =
  /^export (?:declare |abstract |async )*(?:const enum|const|let|class|enum|function\*?|interface|type) (\w+)/gm

/** Sources that no program imports: tests, what stands beside them, and the contract, which is the test of every engine. */
const OF_TESTS = /\.test\.tsx?$|^packages\/(?:testing|engine\/src\/contract)\//

/**
 * Holds exported names to one meaning: no two modules of the packages export a declaration of the same name, and no two modules
 * of one app. The two implementations of a module for two runtimes, `node-x.ts` and `portable-x.ts`, count as one.
 */
export function checkNames(root: string, expect: (holds: boolean, violation: string) => void): void {
  const apps = globSync('apps/*', { cwd: root }).toSorted()
  for (const folders of ['packages/*', ...apps]) {
    const modulesOf = new Map<string, Set<string>>()
    for (const path of globSync(`${folders}/src/**/*.{ts,tsx}`, { cwd: root }).toSorted()) {
      const module = path.replaceAll('\\', '/').replace(/\/(?:node|portable)-([^/]+)$/, '/$1')
      if (OF_TESTS.test(module)) continue
      for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(DECLARATION)) {
        modulesOf.set(name!, (modulesOf.get(name!) ?? new Set()).add(module))
      }
    }
    for (const [name, modules] of modulesOf) {
      const isAllowed = folders === 'packages/*' && SAME_MEANING.has(name)
      const where = [...modules].join(' and ')
      expect(isAllowed || modules.size === 1, `${name} is declared in ${where}: give one of them another name`)
      expect(!isAllowed || modules.size > 1, `${name} is declared in ${where} alone: SAME_MEANING lists it in vain`)
    }
  }
}
