// Holds doc comments to rules of plain English, each with examples that are tried first. Part of `pnpm lint`.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Rule {
  /** What to write instead. */
  readonly advice: string
  /** Finds the fault in the text of a doc comment, without its stars. */
  readonly pattern: RegExp
  readonly bad: readonly string[]
  readonly good: readonly string[]
}

const RULES: readonly Rule[] = [
  {
    advice:
      'begins with a fragment: say first what the thing is or does, so that the comment can be read alone, on hover',
    pattern:
      /^(?:Of|As|In|If|With|Without|For|From|By|At|On|Until|Since|Among|Between|Besides?|Behind|After|Before|To|Unless|Because|Though|Although|Within|Above|Below|Per|Like|Under|Over)\b/,
    bad: [
      'Of transactions that a file depends on.',
      'If there was no such commit.',
      'As `get`, without the copy.',
      'By handle and key.',
    ],
    good: [
      'Durability of transactions that a file depends on.',
      'Where the next page begins.',
      'Same as `get`, without the copy.',
    ],
  },
  {
    advice: 'has “told” or “tells”: say “reports”, “shows”, “names”, “is called with” or “is notified”',
    pattern: /\b(?:told|tells)\b/i,
    bad: ['Told of every view that ended.', 'Until it is told to stop.', 'Tells the supervisor why.'],
    good: ['Called after each view, with its report.', 'Readers can tell them apart.'],
  },
  {
    advice: 'has “so many”: name the number, or the parameter that has it',
    pattern: /\bso many\b/i,
    bad: ['Packs so many keys.', 'So many are open from the start.'],
    good: ['Packs `count` keys.', 'Number of resources that are open from the start.'],
  },
  {
    advice: 'has “is no X”: say “is not an X”',
    pattern:
      /(?<!\bthere )\b(?:is|are|was|were) no (?!(?:longer|more|less|older|newer|earlier|later|larger|smaller|higher|lower|such)\b)/i,
    bad: ['Undefined where the bytes are no value of the type.'],
    good: [
      'Undefined if the bytes are not a value of the type.',
      'There is no such commit.',
      'A block that is no older.',
    ],
  },
]

const root = fileURLToPath(new URL('..', import.meta.url))
const files = globSync('{packages,apps,examples}/**/*.{ts,tsx}', {
  cwd: root,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist|generated)$/.test(path),
})

for (const { pattern, bad, good } of RULES) {
  const wrong = [...bad.filter((text) => !pattern.test(text)), ...good.filter((text) => pattern.test(text))]
  if (wrong.length > 0) throw new Error(`the rule ${pattern} is wrong about: ${wrong.join(' | ')}`)
}

let comments = 0
const faults: string[] = []
for (const file of files.toSorted()) {
  const source = readFileSync(`${root}${file}`, 'utf8')
  for (const { 1: comment, index } of source.matchAll(/\/\*\*([\s\S]*?)\*\//g)) {
    comments++
    const text = comment!.replaceAll(/\n\s*\*[ \t]?/g, ' ').trim()
    for (const { pattern, advice } of RULES) {
      if (!pattern.test(text)) continue
      const line = source.slice(0, index).split('\n').length
      faults.push(`${file}:${line}: “${text.slice(0, 60)}” ${advice}`)
    }
  }
}
console.log(faults.join('\n'))
console.log(`${comments} doc comments, ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0
