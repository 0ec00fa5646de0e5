import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The members of a union of codes: literals in quotes, and names of other unions. */
type Members = readonly string[]

interface Row {
  readonly code: string
  /** Names of fields; those that may be absent end in `?`. */
  readonly fields: readonly string[]
  readonly meaning: string
}

/**
 * Holds the README of each package that declares error codes (`export type …ErrorCode`) to its codes, both ways: the table
 * `| code | fields | meaning |` has one row for each code, and no other rows, with the fields that `ErrorFieldsByCode` gives the code.
 */
export function checkErrorTables(root: string, expect: (holds: boolean, violation: string) => void): void {
  const readText = (path: string) => readFileSync(join(root, path), 'utf8')
  const unions = new Map<string, Members>()
  const fieldsOf = new Map<string, readonly string[]>()
  const declaredBy = new Map<string, string[]>()
  for (const path of globSync('packages/*/src/**/*.ts', { cwd: root, exclude: (path) => path.endsWith('.test.ts') })) {
    const text = readText(path)
    const folder = path.split(/[\\/]/).slice(0, 2).join('/')
    const found = unionsIn(text)
    const declared = text.match(/^export type \w+ErrorCode\b/gm)?.length ?? 0
    expect(found.length === declared, `${path} has a union of error codes in a form that this check does not read`)
    for (const [name, members] of found) {
      unions.set(name, members)
      declaredBy.set(folder, [...(declaredBy.get(folder) ?? []), name])
    }
    for (const [code, fields] of fieldsIn(text)) fieldsOf.set(code, fields)
  }

  /** The codes of a union, and of the unions in it. */
  const codesOf = (union: string): string[] =>
    (unions.get(union) ?? []).flatMap((member) => (member.startsWith("'") ? [member.slice(1, -1)] : codesOf(member)))
  const allCodes = new Set([...unions.keys()].flatMap(codesOf))
  for (const code of fieldsOf.keys()) expect(allCodes.has(code), `${code} has fields and is in no union of codes`)

  for (const folder of globSync('packages/*', { cwd: root }).toSorted()) {
    const readme = join(folder, 'README.md')
    const codes = new Set((declaredBy.get(folder.replaceAll('\\', '/')) ?? []).flatMap(codesOf))
    const rows = existsSync(join(root, readme)) ? tableIn(readText(readme)) : undefined
    if (codes.size > 0) expect(rows !== undefined, `${readme} has no table | code | fields | meaning |`)
    if (!rows) continue
    const inTable = new Set(rows.map(({ code }) => code))
    expect(inTable.size === rows.length, `${readme} has two rows for one code`)
    for (const code of codes) expect(inTable.has(code), `${readme} has no row for ${code}`)
    for (const { code, fields, meaning } of rows) {
      expect(codes.has(code), `${readme} has a row for ${code}, which the package does not declare`)
      expect(meaning !== '', `${readme} does not say what ${code} means`)
      const [found, declared] = [fields, fieldsOf.get(code) ?? []].map((names) => names.toSorted().join(', ') || 'none')
      expect(found === declared, `${readme} gives ${code} the fields ${found}; declared are ${declared}`)
    }
  }
}

/** The unions of codes in a source. */
function unionsIn(text: string): [name: string, members: Members][] {
  const member = String.raw`\||/\*\*.*?\*/|//.*|'\w+'|\w+ErrorCode`
  const unions = text.matchAll(new RegExp(String.raw`^export type (\w+ErrorCode) =((?:\s+(?:${member}))+)`, 'gm'))
  return [...unions].map(([, name, union]) => {
    const code = union!.replaceAll(/\/\*\*.*?\*\/|\/\/.*/g, '')
    return [name!, code.match(/'\w+'|\w+ErrorCode/g) ?? []]
  })
}

/** The fields of each code that a source declares: `code: { readonly field?: … }`. */
function fieldsIn(text: string): [code: string, fields: readonly string[]][] {
  const [, declared = ''] = /interface ErrorFieldsByCode \{\n(.*?)\n {0,2}\}\n/s.exec(text) ?? []
  return [...declared.matchAll(/^ {2,4}(\w+): \{(.*?)\}/gms)].map(([, code, fields]) => [
    code!,
    [...fields!.matchAll(/readonly (\w+\??):/g)].map(([, field]) => field!),
  ])
}

/** The rows of the table of errors in a README; undefined if it has none. */
function tableIn(readme: string): Row[] | undefined {
  const [, table] = /^ *\| code +\| fields +\| meaning +\|\n[ |-]+\n((?: *\|.*\n)*)/m.exec(readme) ?? []
  return table?.match(/.+/g)?.map((line) => {
    const cells = line.split('|').map((cell) => cell.trim())
    const [, code = '', fields = '', meaning = ''] = cells
    const names = fields === '–' ? [] : fields.replaceAll('`', '').split(', ')
    return { code: code.replaceAll('`', ''), fields: names, meaning }
  })
}
