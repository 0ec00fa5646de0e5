// Refuses `slice` of bytes: `slice` of a Uint8Array copies, `slice` of a Buffer does not, and every Buffer is a Uint8Array.
// Who wants a copy calls `copyBytes`, and who wants a view calls `subarray`. The types of the compiler decide, so that no
// name or alias hides an array of bytes. The rule is first tried on slices-examples.ts. Part of `pnpm lint`.
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Node } from 'typescript/unstable/ast'
import { isPropertyAccessExpression } from 'typescript/unstable/ast/is'
import { API, type Checker, type Project, type Type, type UnionType } from 'typescript/unstable/sync'

const root = fileURLToPath(new URL('..', import.meta.url))
/** The property that typed arrays have, and texts, arrays and ArrayBuffers do not. */
const OF_TYPED_ARRAYS = 'BYTES_PER_ELEMENT'
/** Typed arrays that no Buffer is. */
const OF_NUMBERS = /^(?:Int8|(?:Int|Uint)(?:16|32)|Float(?:16|32|64)|Big(?:Int|Uint)64)Array$/
const EXAMPLES = 'scripts/slices-examples.ts'
/** The module that may take `slice`: it has ruled out a Buffer before. */
const COPYING = 'packages/core/src/bytes/copy-bytes.ts'

/** A use of a method named `slice`: `x.slice` or `x?.slice`. */
interface Slicing {
  readonly object: Node
  readonly end: number
}

function slicingsIn(node: Node, found: Slicing[] = []): Slicing[] {
  if (isPropertyAccessExpression(node) && node.name.text === 'slice') {
    found.push({ object: node.expression, end: node.name.end })
  }
  node.forEachChild((child) => {
    slicingsIn(child, found)
  })
  return found
}

function mayBeBytes(type: Type, checker: Checker): boolean {
  const bound = checker.getBaseConstraintOfType(type) ?? type
  const parts = bound.isUnionType() ? (bound as UnionType).getTypes() : [bound]
  return parts.some(
    (part) =>
      checker.getPropertyOfType(part, OF_TYPED_ARRAYS) !== undefined && !OF_NUMBERS.test(part.getSymbol()?.name ?? ''),
  )
}

/** Places in the files of a project where bytes are sliced, as `path:line`, with the types. */
function slicesIn({ rootFiles, program, checker }: Project): (readonly [string, string])[] {
  return rootFiles.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const file = text.includes('slice') ? program.getSourceFile(path) : undefined
    const slicings = file ? slicingsIn(file) : []
    const types = checker.getTypeAtLocation(slicings.map(({ object }) => object))
    return slicings.flatMap(({ end }, at) => {
      const type = types[at]
      if (type && !mayBeBytes(type, checker)) return []
      const line = text.slice(0, end).split('\n').length
      return [[`${relative(root, path)}:${line}`, type ? checker.typeToString(type) : 'an unknown type'] as const]
    })
  })
}

function expectedOfExamples(): string[] {
  const lines = readFileSync(join(root, EXAMPLES), 'utf8').split('\n')
  return lines.flatMap((line, at) => (line.endsWith('// refused') ? [`${EXAMPLES}:${at + 1}`] : []))
}

const api = new API({ cwd: root })
const configs = globSync(['{packages,apps}/*/tsconfig.json', 'scripts/tsconfig.json'], { cwd: root })
const snapshot = api.updateSnapshot({ openProjects: configs.map((path) => join(root, path)) })
const found = new Map(snapshot.getProjects().flatMap(slicesIn))
api.close()

const places = [...found.keys()]
const ofExamples = places.filter((place) => place.startsWith(`${EXAMPLES}:`))
if (ofExamples.join() !== expectedOfExamples().join()) {
  throw new Error(`check-slices refuses ${ofExamples} of the examples, not ${expectedOfExamples()}`)
}
const violations = places.filter((place) => !place.startsWith(`${EXAMPLES}:`) && !place.startsWith(`${COPYING}:`))
for (const place of violations) console.log(`${place}: slice of ${found.get(place)}: call copyBytes or subarray`)
console.log(`slices of bytes in ${configs.length} projects: ${violations.length}`)
process.exitCode = violations.length > 0 ? 1 : 0
