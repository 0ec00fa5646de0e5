import { dirname, join } from 'node:path'

/** Changes of a value in its place: methods of collections and arrays, and assignments to members. */
const CHANGES = [
  String.raw`\.(?:add|set\w*|delete|clear|push|pop|shift|unshift|splice|fill|sort|copyWithin|append|remove)\(`,
  String.raw`(?:\.\w+|\[[^\]\n]+\])(?: (?:[-+*/|&^]|<<|>>>?|\?\?)?= |\+\+|--)`,
].join('|')

/** The modules that a module imports values from, as paths without endings. */
export function importsOf(path: string, text: string): string[] {
  const targets = text.matchAll(/^(?:import|export|\}) (?!type ).*? ?from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm)
  return [...targets].map(([, from, dynamic]) => join(dirname(path), (from ?? dynamic)!).replace(/\.[jt]sx?$/, ''))
}

/** Names that a module declares at its top and changes later: in a function, not in the statements that make it. */
export function changedNames(text: string): string[] {
  const declared = [...text.matchAll(/^(?:export )?(let|const) (\w+|\{[^}]*\}|\[[^\]]*\])(?=[:\s=])/gm)]
  const later = text.replaceAll(/^(?:for |\w+\[)[^\n]*\n(?: [^\n]*\n|\}\n)*/gm, '')
  return declared.flatMap(([, keyword, names]) =>
    names!.match(/\w+/g)!.filter((name) => {
      const changes = new RegExp(String.raw`(?<![.\w])${name}(?:\.\w+|\[[^\]\n]+\])*(?:${CHANGES})`)
      return keyword === 'let' || changes.test(later)
    }),
  )
}

/** Cases that `changedNames` finds, and cases that it does not: tried before it is used. */
const EXAMPLES: readonly (readonly [text: string, names: readonly string[]])[] = [
  ['let last = 0\n', ['last']],
  ['const HELD = new Set<string>()\nexport function hold(one: string) {\n  HELD.add(one)\n}\n', ['HELD']],
  ['const PROBE = new Uint8Array(8)\nfunction probe(byte: number) {\n  PROBE[0] = byte\n}\n', ['PROBE']],
  ['export const theme = signal(0)\nexport function choose() {\n  theme.value = 1\n}\n', ['theme']],
  ['const VALUES = new Int8Array(8)\nfor (let at = 0; at < 8; at++) {\n  VALUES[at] = at\n}\n', []],
  ['const NAMES = new Set([1])\nexport const has = (name: number) => NAMES.has(name)\n', []],
]
for (const [text, names] of EXAMPLES) {
  const found = changedNames(text)
  if (found.join() !== names.join()) throw new Error(`changedNames finds ${found.join() || 'nothing'} in:\n${text}`)
}
