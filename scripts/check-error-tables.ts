// Holds the README of each package that declares error codes (`export type …ErrorCode`) to them, both ways: its table has a row
// for each code, and for nothing else, with the fields that `ErrorFieldsByCode` gives the code, and what the code means. A field
// that may be absent is written `name?`. Last line `N passed, M failed`.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const violations: string[] = []
let passed = 0

function expect(holds: boolean, violation: string): void {
  if (holds) passed++
  else violations.push(violation)
}

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The members of a union of codes: literals in quotes, and names of other unions. */
type Members = readonly string[]

/** The unions of codes in a source: name and members. */
function unionsIn(text: string): [name: string, members: Members][] {
  const unions = text.matchAll(
    /^export type (\w+ErrorCode) =((?:\s+(?:\||\/\*\*.*?\*\/|\/\/.*|'\w+'|\w+ErrorCode))+)/gm,
  )
  return [...unions].map(([, name, union]) => {
    const members = union!.replaceAll(/\/\*\*.*?\*\/|\/\/.*/g, '').match(/'\w+'|\w+ErrorCode/g)
    return [name!, members ?? []]
  })
}

/** The fields of each code that a source declares: `code: { readonly field?: … }`. Names of optional fields end in `?`. */
function fieldsIn(text: string): [code: string, fields: readonly string[]][] {
  const [, declared = ''] = /interface ErrorFieldsByCode \{\n(.*?)\n {0,2}\}\n/s.exec(text) ?? []
  return [...declared.matchAll(/^ {2,4}(\w+): \{(.*?)\}/gms)].map(([, code, fields]) => [
    code!,
    [...fields!.matchAll(/readonly (\w+\??):/g)].map(([, field]) => field!),
  ])
}

interface Row {
  readonly code: string
  readonly fields: readonly string[]
  readonly meaning: string
}

/** The rows of the table of errors in a README; undefined without a table. */
function tableIn(readme: string): Row[] | undefined {
  const [, table] = /^ *\| code +\| fields +\| meaning +\|\n[ |-]+\n((?: *\|.*\n)*)/m.exec(readme) ?? []
  return table?.match(/.+/g)?.map((line) => {
    const [code = '', fields = '', meaning = ''] = line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1)
    return {
      code: code.replaceAll('`', ''),
      fields: fields === '–' ? [] : fields.replaceAll('`', '').split(', '),
      meaning,
    }
  })
}

const unions = new Map<string, Members>()
const fieldsOf = new Map<string, readonly string[]>()
const declaredBy = new Map<string, string[]>()
for (const path of globSync('packages/*/src/**/*.ts', { cwd: root, exclude: (path) => path.endsWith('.test.ts') })) {
  const text = readText(path)
  const folder = path.split(/[\\/]/).slice(0, 2).join('/')
  for (const [name, members] of unionsIn(text)) {
    unions.set(name, members)
    declaredBy.set(folder, [...(declaredBy.get(folder) ?? []), name])
  }
  for (const [code, fields] of fieldsIn(text)) fieldsOf.set(code, fields)
}

/** The codes of a union, those of the unions in it included. */
function codesOf(union: string): string[] {
  const members = unions.get(union)
  if (!members) throw new Error(`${union} is not a union of codes`)
  return members.flatMap((member) => (member.startsWith("'") ? [member.slice(1, -1)] : codesOf(member)))
}

const allCodes = new Set([...unions.keys()].flatMap(codesOf))
for (const code of fieldsOf.keys()) expect(allCodes.has(code), `fields are declared for ${code}, which no union of codes has`)

for (const folder of globSync('packages/*', { cwd: root }).toSorted()) {
  const readme = join(folder, 'README.md')
  const codes = new Set((declaredBy.get(folder.replaceAll('\\', '/')) ?? []).flatMap(codesOf))
  const rows = existsSync(join(root, readme)) ? tableIn(readText(readme)) : undefined
  if (codes.size > 0) expect(rows !== undefined, `${readme} has no table | code | fields | meaning |`)
  const inTable = new Set(rows?.map(({ code }) => code))
  expect(inTable.size === (rows?.length ?? 0), `${readme} has two rows for one code`)
  for (const code of rows ? codes : []) expect(inTable.has(code), `${readme} has no row for ${code}`)
  for (const { code, fields, meaning } of rows ?? []) {
    expect(codes.has(code), `${readme} has a row for ${code}, which the package does not declare`)
    expect(meaning !== '', `${readme} does not say what ${code} means`)
    const declared = fieldsOf.get(code) ?? []
    const isSame = fields.toSorted().join() === declared.toSorted().join()
    expect(isSame, `${readme} gives ${code} the fields ${fields.join(', ') || '–'}, not ${declared.join(', ') || '–'}`)
  }
}

for (const violation of violations) console.log(violation)
console.log(`${passed} passed, ${violations.length} failed`)
process.exitCode = violations.length > 0 ? 1 : 0
