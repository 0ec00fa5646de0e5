/** Most characters of the left column of a list. Longer ones have a separate line. */
const MOST_LEFT = 28
const DEFAULT_WIDTH = 80
const LEAST_WIDTH = 60
/** Longer lines are hard to read. */
const MOST_WIDTH = 120

/** Width of the lines of a text on standard output, in characters. */
export function outputWidth(): number {
  return Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, process.stdout.columns ?? DEFAULT_WIDTH))
}

/** Breaks a text between words, so that no line is longer than `width` characters if no word is. */
export function wrapped(text: string, width: number): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}

/** Formats rows of a term and its explanation, wrapped to lines of `width` characters. */
export function definitions(rows: readonly (readonly [term: string, text: string])[], width: number): string {
  const short = rows.map(([term]) => term.length).filter((length) => length <= MOST_LEFT)
  const left = Math.max(0, ...short)
  const indent = left + 4
  return rows
    .map(([term, text]) => {
      const explanation = wrapped(text, width - indent).replaceAll('\n', `\n${' '.repeat(indent)}`)
      return term.length <= left
        ? `  ${term.padEnd(left)}  ${explanation}`
        : `  ${term}\n${' '.repeat(indent)}${explanation}`
    })
    .join('\n')
}
