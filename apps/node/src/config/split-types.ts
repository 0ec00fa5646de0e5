/** Splits a text at the commas outside of type arguments. */
export function splitTypes(text: string): string[] {
  const types: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const one = text[at]
    if (one === '<' || one === '(') depth++
    else if (one === '>' || one === ')') depth--
    else if (one === ',' && depth === 0) {
      types.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return [...types, text.slice(start).trim()]
}
