// A plugin of esbuild: code imports each name from the module that declares it, instead of from the index of its
// package. A process reaches all that an index exports if any other process uses it, since esbuild splits whole files
// between processes. So `info` loaded the virtual machine and elliptic curves.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {{ readonly file: string, readonly name: string }} Declaration */

const packages = fileURLToPath(new URL('../../../packages', import.meta.url))

/** Files of the exports of packages, by the texts that import them. */
const FILES = new Map(
  globSync('*/package.json', { cwd: packages }).flatMap((path) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(packages, path), 'utf8'))
    return Object.entries(exports).flatMap(([subpath, conditions]) => {
      const source = conditions['@ledger-state/source']
      const isFile = typeof source === 'string' && !source.includes('*')
      return isFile ? [[join(name, subpath), join(packages, dirname(path), source)]] : []
    })
  }),
)

/** @type {Map<string, Map<string, Declaration>>} */
const declarations = new Map()

/**
 * The declarations of what a file exports again, by name. Names that it declares itself are missing.
 * @param {string} file
 * @returns {Map<string, Declaration>}
 */
function declarationsOf(file) {
  const known = declarations.get(file)
  if (known) return known
  /** @type {Map<string, Declaration>} */
  const found = new Map()
  declarations.set(file, found)
  for (const [, , names = '', from = ''] of readFileSync(file, 'utf8').matchAll(statements('export'))) {
    for (const { name, as } of namesOf(names)) {
      const declaration = declarationOf(file, from, name)
      if (declaration) found.set(as, declaration)
    }
  }
  return found
}

/**
 * The declaration of a name that a file imports; undefined if the import stays as it is.
 * @param {string} file
 * @param {string} from
 * @param {string} name
 * @returns {Declaration | undefined}
 */
function declarationOf(file, from, name) {
  if (from.startsWith('.')) return { file: resolve(dirname(file), from.replace(/\.js$/, '.ts')), name }
  const index = FILES.get(from)
  return index && declarationsOf(index).get(name)
}

/** @param {string} keywords */
function statements(keywords) {
  return new RegExp(`^(${keywords}) \\{([^}]*)\\} from '([^']+)'`, 'gm')
}

/**
 * The values among imported or exported names.
 * @param {string} names
 */
function namesOf(names) {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((text) => {
      const [name = '', as = name] = text.split(' as ')
      return { name, as }
    })
}

/**
 * The text of a file with such imports. Lines keep their numbers.
 * @param {string} file
 */
function rewrite(file) {
  return readFileSync(file, 'utf8').replace(statements('import|export'), (statement, keyword, names, from) => {
    if (!FILES.has(from)) return statement
    const rewritten = namesOf(names).map(({ name, as }) => {
      const declaration = declarationOf(file, from, name) ?? { file: from, name }
      return `${keyword} { ${declaration.name} as ${as} } from ${JSON.stringify(declaration.file)}`
    })
    return rewritten.join(';') + '\n'.repeat(statement.split('\n').length - 1)
  })
}

/** @type {import('esbuild').Plugin} */
export const IMPORT_FROM_MODULES = {
  name: 'import from modules',
  setup({ onLoad }) {
    onLoad({ filter: /\/(packages|apps\/node)\/.*\.ts$/ }, ({ path }) => ({ contents: rewrite(path), loader: 'ts' }))
  },
}
