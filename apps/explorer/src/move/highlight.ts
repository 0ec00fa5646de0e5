/** A piece of Move source that is shown in one style. */
export interface SourceToken {
  readonly kind: 'plain' | 'comment' | 'keyword' | 'literal'
  readonly text: string
}

// Pattern of line comments, block comments without nesting, byte and hex strings, addresses and numbers, and words.
// Each alternative takes linear time.
const TOKEN = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[bx]"(?:[^"\\\n]|\\.)*"|@?0x[0-9a-fA-F_]+\w*|\d[\d_]*\w*|[A-Za-z_]\w*/g

const KEYWORDS = new Set(
  (
    'abort acquires as break const continue copy drop else entry enum false for friend fun has if in inline invariant key let loop ' +
    'match module move mut native package phantom public return script spec store struct true use while'
  ).split(' '),
)

/** Most pieces with a colour. Each is an element of the page. A source of the framework has 3,900 at most. */
export const MOST_TOKENS = 20_000

/**
 * Splits Move source into pieces for colours. The pieces together are the text, even if it is not a program. Text after
 * `MOST_TOKENS` pieces has no colours.
 */
export function highlightMove(source: string): readonly SourceToken[] {
  const tokens: SourceToken[] = []
  let plain = ''
  let coloured = 0
  const push = (kind: SourceToken['kind'], text: string): void => {
    if (plain !== '') tokens.push({ kind: 'plain', text: plain })
    plain = ''
    coloured++
    tokens.push({ kind, text })
  }
  let end = 0
  for (const { 0: text, index } of source.matchAll(TOKEN)) {
    if (coloured === MOST_TOKENS) break
    plain += source.slice(end, index)
    end = index + text.length
    if (text.startsWith('//') || text.startsWith('/*')) push('comment', text)
    else if (/^[@\d]|"/.test(text)) push('literal', text)
    else if (KEYWORDS.has(text)) push('keyword', text)
    else plain += text
  }
  plain += source.slice(end)
  if (plain !== '') tokens.push({ kind: 'plain', text: plain })
  return tokens
}
