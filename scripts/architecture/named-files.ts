/** The files that a document names in code spans, outside of blocks of code. */
export function namesInDocument(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/`([\w./-]+\.(?:tsx?|md|mjs))`/g)].map(([, name]) => name!)
}

/** The files that the comments of a program name, outside of blocks of code. */
export function namesInComments(text: string): string[] {
  const comments = [...text.matchAll(/\/\*[\s\S]*?\*\/|(?:^|[ \t])\/\/ [^\n]*/gm)].map(([comment]) =>
    comment.replaceAll(/```[\s\S]*?```/g, ''),
  )
  const name = /(?<![\w./-])(?:[\w.-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:tsx?|md|mjs)\b/g
  return comments.flatMap((comment) => comment.match(name) ?? [])
}

/** The files that a program names relative to itself, without its folders. */
export function namesInUrls(text: string): string[] {
  return [...text.matchAll(/new URL\(\s*'([^'#?]+\.\w+)',\s*import\.meta\.url/g)].map(([, name]) => name!)
}
