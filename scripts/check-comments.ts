// Holds comments, the texts of programs (messages, names of tests) and documents to rules of plain English. Each rule has examples,
// which are tried first. Part of `pnpm lint`.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Rule {
  /** What to write instead. */
  readonly advice: string
  /** Finds the fault in a text: a comment without its stars and slashes, a string, or a paragraph. */
  readonly pattern: RegExp
  /** Whether it concerns doc comments alone, which are read by themselves. */
  readonly onlyDocComments?: boolean
  /** Whether it concerns comments alone, and neither messages nor documents. */
  readonly onlyComments?: boolean
  /** Whether it concerns comments and documents, and no messages. */
  readonly exceptMessages?: boolean
  readonly bad: readonly string[]
  readonly good: readonly string[]
}

const RULES: readonly Rule[] = [
  {
    onlyDocComments: true,
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
      'Start of the next page.',
      'Same as `get`, without the copy.',
    ],
  },
  {
    advice:
      'begins with “Where”: name the thing (“Offset of …”, “Place at which …”), or say who does what, then “if …”',
    pattern: /^Where\b(?!.*\?)/,
    onlyComments: true,
    bad: ['Where the window begins.', 'Where descriptors have run out, the offer arrives without its connection.'],
    good: ['Start of the window.', 'The offer arrives without its connection when descriptors have run out.'],
  },
  {
    advice: 'has “told” or “tells”: say “reports”, “shows”, “names”, “is called with” or “is notified”',
    pattern: /\b(?:told|tells)\b/i,
    bad: ['Told of every view that ended.', 'Until it is told to stop.', 'Tells the supervisor why.'],
    good: ['Called after each view, with its report.', 'Readers can tell them apart.'],
  },
  {
    advice: 'has “goes on”: say “continues”, “resumes” or “keeps” doing it',
    pattern: /\b(?:go|goes|went|going) on\b/i,
    bad: ['A page may end before; `next` is then where to go on.', 'The merge goes on meanwhile.'],
    good: ['A page may end before; `next` is then where to continue.', 'It has ongoing merges.'],
  },
  {
    advice: 'has “… of its own”: say “a separate …” or “its own …”',
    pattern: /\b(?:an?|each|every|one) (?:[\w-]+ ){1,2}of (?:its|their) own\b/i,
    bad: ['Runs a job in a thread of its own.', 'Each has a key of its own.'],
    good: ['Runs a job in a separate thread.', 'Each has its own key.'],
  },
  {
    exceptMessages: true,
    advice: 'has “… of its own”: say “a separate …” or “its own …”',
    pattern:
      /\bof (?:its|their) own\b(?=\W*$|\s*[^\w\s]| (?:and|or|but|that|which|with|for|in|on|at|to|by|from|if|while|when|until|is|are|has|have)\b)/i,
    bad: [
      'A program that brings a Node.js of its own.',
      'Jobs that run in threads of their own.',
      'Code with bounds of its own reads it, and adds bytes of its own to it.',
    ],
    good: ['Decoded with the layouts of its own version.', 'Jobs that run in separate threads.'],
  },
  {
    exceptMessages: true,
    advice: 'has “where” for a condition: say “if”, and keep “where” for places',
    pattern:
      /(?:`\w+_\w+`|@throws|\b(?:undefined|null|true|false|absent|none|empty|nothing|only|also|even|refused|and,)|[.;]) where\b(?!.*\?)/i,
    bad: [
      'Hash of the block; undefined where the store has none.',
      'Deletes the file. Where there is none, it does nothing.',
      'Reads a value. @throws `no_ledger` where the store is empty; `overloaded` where many wait',
      'Compressed only where the client accepts it.',
    ],
    good: ['Hash of the block; undefined if the store has none.', 'Place where the next record is written.'],
  },
  {
    onlyDocComments: true,
    advice: 'has tags alone: say first what the function does, returns or asks for',
    pattern: /^@(?:throws|param|returns)\b/,
    bad: ['@throws `no_ledger` if the store is empty', '@param most what to read at once'],
    good: ['Newest version. @throws `no_ledger` if the store is empty', '@example ```ts'],
  },
  {
    onlyDocComments: true,
    advice:
      'begins with a word that needs a sentence before it: name the thing, so that the comment can be read alone, on hover',
    pattern: /^(?:Those|That|The ones?|The others?|It|Its|They|Them|Their|Only|Not|Also|Such)\b/,
    bad: [
      'Those of the headers that say more of an answer.',
      'That of the newest commit.',
      'The one that came first.',
      'Its heading, and the target of the links to it.',
      'Only where a block ends.',
      'Not long before the newest version.',
    ],
    good: ['Headers that describe an answer.', 'Version of the newest commit.', 'First answer that came.'],
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
const PROGRAMS = ['{packages,apps,examples,scripts}/**/*.{ts,tsx,mjs}', '.ci/run']
const DOCUMENTS = ['*.md', 'docs/**/*.md', '{packages,apps,examples}/**/*.md']
/**
 * The diary has the words of its day, and logs of changes those of their releases; this file has examples of faults.
 */
const EXEMPT = /(?:^|\/)(?:node_modules|dist|generated|data|docs\/lab|CHANGELOG\.md|check-comments\.ts)(?:$|\/)/
/** A text in a program with fewer words is a name, not a sentence. */
const FEWEST_WORDS = 3

interface Text {
  readonly at: number
  readonly text: string
  readonly isComment?: boolean
  readonly isDocComment?: boolean
}

const COMMENT_OR_STRING =
  /\/\*\*([\s\S]*?)\*\/|\/\*[\s\S]*?\*\/|((?:^[ \t]*(?:\/\/|# )[^\n]*\n)+)|[ \t]\/\/ ([^\n]*)|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/gm

/**
 * The comments of a program, its messages, and the names of its tests. Not a parser: what it takes for a text may be
 * code.
 */
function* textsOfProgram(source: string): Generator<Text> {
  for (const { 0: whole, 1: doc, 2: lines, 3: trailing, index: at, ...rest } of source.matchAll(COMMENT_OR_STRING)) {
    if (doc !== undefined) {
      // What a constructor throws continues the doc comment of its class.
      const isDocComment = !/^\s*constructor\(/.test(source.slice(at + whole.length, at + whole.length + 80))
      yield { at, text: doc.replaceAll(/\n\s*\*[ \t]?/g, ' ').trim(), isComment: true, isDocComment }
    } else if (lines !== undefined)
      yield { at, text: lines.replaceAll(/^[ \t]*(?:\/\/|# )[ \t]?/gm, '').replaceAll('\n', ' '), isComment: true }
    else if (trailing !== undefined) yield { at, text: trailing, isComment: true }
    else {
      const text = rest[4] ?? rest[5] ?? rest[6] ?? ''
      if (text.replaceAll(/\$\{[^}]*\}/g, '').split(/\s+/).length >= FEWEST_WORDS) yield { at, text }
    }
  }
}

/** The paragraphs of a document, without what stands in it as code. */
function* textsOfDocument(source: string): Generator<Text> {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, ' ')
  const prose = source.replaceAll(/^```[\s\S]*?^```/gm, blank).replaceAll(/`[^`\n]*`/g, blank)
  for (const { 0: text, index: at } of prose.matchAll(/(?:[^\n]+\n?)+/g)) yield { at, text: text.replaceAll('\n', ' ') }
}

for (const { pattern, bad, good } of RULES) {
  const wrong = [...bad.filter((text) => !pattern.test(text)), ...good.filter((text) => pattern.test(text))]
  if (wrong.length > 0) throw new Error(`the rule ${pattern} is wrong about: ${wrong.join(' | ')}`)
}

let texts = 0
const faults: string[] = []
for (const file of [...PROGRAMS, ...DOCUMENTS].flatMap((glob) =>
  globSync(glob, { cwd: root, exclude: (path) => EXEMPT.test(path) }),
)) {
  if (EXEMPT.test(file)) continue
  const source = readFileSync(`${root}${file}`, 'utf8')
  for (const { at, text, isComment, isDocComment } of file.endsWith('.md')
    ? textsOfDocument(source)
    : textsOfProgram(source)) {
    texts++
    for (const { pattern, advice, onlyComments, onlyDocComments, exceptMessages } of RULES) {
      const isMessage = !isComment && !file.endsWith('.md')
      const concerns =
        (isComment || !onlyComments) && (isDocComment || !onlyDocComments) && !(isMessage && exceptMessages)
      const found = concerns ? pattern.exec(text) : null
      if (!found) continue
      const line = source.slice(0, at).split('\n').length
      const excerpt = text.slice(Math.max(0, found.index - 30), found.index + 30).trim()
      faults.push(`${file}:${line}: “${excerpt}” ${advice}`)
    }
  }
}
if (faults.length > 0) console.log(faults.join('\n'))
console.log(`${texts} comments, messages and paragraphs, ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0
